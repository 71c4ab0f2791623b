/**
 * Keyed state over a store of the task, so that it is logged, restored and committed with the epoch. One store holds all states of an operator.
 *
 * Rows are the store's values and are changed in place between two barriers; the store serialises each dirty one once, at the barrier.
 */
import { MillraceError } from '../../errors.js';
import type { TimestampedKeyValueStore } from '../../stores/store.js';
import { undeclaredState } from '../undeclared-state.js';
import type { ExpiredRows } from './expired-rows.js';
import { noNamespace, type KeyedStateBackend, type StateRow, type StateRows } from './keyed-state-backend.js';
import { statePrefix, type StateAddress } from './state-address.js';
import type { AnyStateDescriptor } from './state-descriptor.js';
import type { StoredRow } from './state-row-serde.js';

export type KeyedStateStore = TimestampedKeyValueStore<StateAddress, StoredRow>;

/** Stands for the key where none is in work. */
const noKey = Symbol('no key');

export class StoreKeyedStateBackend implements KeyedStateBackend {
  private key: unknown = noKey;

  /**
   * @param declared the states of the operator; others can't be asked for
   * @param timestamp time of the record in work, ms: that of the changelog records
   * @param expired states that are cleaned up as they are used
   */
  constructor(
    private readonly store: KeyedStateStore,
    private readonly declared: readonly AnyStateDescriptor[],
    private readonly timestamp: () => number,
    private readonly expired: ReadonlyMap<string, ExpiredRows> = new Map(),
  ) {}

  currentKey(): unknown {
    if (this.key === noKey) throw keyless();
    return this.key;
  }

  setCurrentKey(key: unknown): void {
    this.key = key;
  }

  /** Until the next key is set, nobody gets at the state of one. */
  clearCurrentKey(): void {
    this.key = noKey;
  }

  /** The keys that have a row in a state. Rows may be written meanwhile. */
  async *keysOf({ name }: AnyStateDescriptor): AsyncIterableIterator<unknown> {
    for await (const [{ key, namespace }] of this.store.prefixScan(statePrefix(name))) if (namespace === noNamespace) yield key;
  }

  rows<R extends StateRow>(descriptor: AnyStateDescriptor): StateRows<R> {
    if (!this.declared.includes(descriptor)) {
      throw undeclaredState('State', descriptor, "operator's `states`", this.declared);
    }
    const { name: state } = descriptor;
    const { store } = this;
    const address = (namespace: string): StateAddress => ({ state, key: this.currentKey(), namespace });
    const expired = this.expired.get(state);
    return {
      get: (namespace) => {
        expired?.accessed();
        return store.get(address(namespace)) as R | null;
      },
      put: (namespace, row) => {
        expired?.accessed();
        store.put(address(namespace), row, this.timestamp());
      },
      remove: (namespace) => {
        const entry = store.locate(address(namespace));
        if (entry.value !== null) store.write(entry, null, this.timestamp());
      },
    };
  }
}

function keyless(): MillraceError {
  return new MillraceError(
    'MILL_STATE_INVALID',
    'Keyed state and timers belong to the key of the record or timer in work, and there is none: not in `init`, not when `process` or `onTimer` is done (return a promise to use them later), not in a callback of `schedule`, and not for a broadcast record, whose `applyToKeyedState` goes through the keys.',
  );
}
