/** What the stage `transformValues` calls, as `RowTransformer.java`: it sees `rows` and leaves deleted ones alone, sees `deleted` ones too, or numbers its calls by key in a `state`. */
import type { ProcessingContext } from '../../../src/processors/processor.js';
import type { ValueTransformer } from '../../../src/processors/value-transformer.js';
import { serdes } from '../../../src/serdes/serdes.js';
import type { KeyValueStore, StoreSpec } from '../../../src/stores/store.js';
import { stores } from '../../../src/stores/stores.js';
import { NotBuiltError } from '../../case.js';

export class RowTransformer implements ValueTransformer<string, string, string> {
  private calls: KeyValueStore<string, number> | null = null;

  constructor(
    private readonly sees: string,
    private readonly state: string,
  ) {
    if (!['rows', 'deleted', 'state'].includes(sees)) throw new NotBuiltError(`sees ${sees}`);
  }

  init(context: ProcessingContext): void {
    if (this.sees === 'state') this.calls = context.store<KeyValueStore<string, number>>(this.state, 'keyValue');
  }

  transform(value: string | null, key: string): string | null {
    if (this.sees === 'deleted' && value === null) return 'gone';
    if (this.calls === null) return value === null ? null : `${value}~`;
    const call = (this.calls.get(key) ?? 0) + 1;
    this.calls.put(key, call);
    return value === null ? null : `${value}#${call}`;
  }
}

export function callsStore(name: string): StoreSpec {
  return stores.keyValue({ name, keySerde: serdes.string, valueSerde: serdes.int32, engine: 'memory' });
}
