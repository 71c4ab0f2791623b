import { MillraceError } from '../errors.js';
import { stateAddressSerde } from '../processors/state/state-address.js';
import { checkKeyedStates, type AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import { stateRowSerde } from '../processors/state/state-row-serde.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import { checkResourceName } from '../topology/resource-name.js';

/**
 * The store that holds the states and timers of one operator.
 *
 * @throws MILL_TOPOLOGY_DUPLICATE_NAME when two states have one name; MILL_TOPOLOGY_INVALID when the key's serde is not known, and for what is no descriptor
 */
export function keyedStateStore<K>(
  storeName: string,
  operator: string,
  keySerde: Serde<K> | null,
  states: readonly AnyStateDescriptor[],
): StoreSpec {
  checkKeyedStates(operator, states);
  if (keySerde === null) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `${operator} keeps state by key and does not know the key's serde: give \`keyBy\` a \`keySerde\`.`,
      {
        details: { operator },
      },
    );
  }
  return Object.freeze<StoreSpec>({
    name: checkResourceName(storeName, 'store'),
    kind: 'timestampedKeyValue',
    rows: 'byKey',
    keySerde: stateAddressSerde(keySerde),
    valueSerde: stateRowSerde(states),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
    briefRowsUnlogged: true,
  });
}
