import { lastValueSerde } from '../processors/last-results.js';
import { serdeOver } from '../serdes/late-serde.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';

/** Where `toStream` keeps what it has to tell at the end of the input, in batch mode. */
export function lastResultsStore<K, V>(name: string, keySerde: Serde<K> | null, valueSerde: Serde<V> | null): StoreSpec {
  return Object.freeze({
    name,
    kind: 'timestampedKeyValue',
    keySerde,
    valueSerde: serdeOver(valueSerde, lastValueSerde, 'value', 'last(default)'),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
  });
}
