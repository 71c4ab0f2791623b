/**
 * Makes a versioned table of a stream of records (KTableSource with a versioned store, KIP-889): each record is a version of its key's row from its timestamp
 * on, whenever it comes.
 *
 * Changes go on at once, whatever the app's `emit`: operators that look into the past need each of them. A record that comes out of order makes a change that
 * is not the latest; one older than the history is dropped and counted.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { VersionedKeyValueStore } from '../stores/store.js';
import { versionedStore } from './connected-store.js';
import { LateRecords, type LateTarget } from './late-records.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext, type OperatorSupplier } from './operator.js';

export function versionedTableSourceOperator(storeName: string, late: LateTarget = null): OperatorSupplier {
  return () => new VersionedTableSource(storeName, late);
}

class VersionedTableSource<K, V> extends NodeOperator<K, V | null> {
  declare private store: VersionedKeyValueStore<K, V>;

  declare private late: LateRecords;

  constructor(
    private readonly storeName: string,
    private readonly lateTarget: LateTarget,
  ) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = versionedStore(context, this.storeName);
    this.late = new LateRecords(context, this.lateTarget, 'expired');
  }

  process(key: K, value: V | null, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    const before = this.store.get(key)?.value ?? null;
    const validTo = this.store.put(key, value, timestamp);
    if (validTo === 'rejected') return this.late.take(key, value, timestamp);
    return this.downstream.process(key, new Change(value, before, validTo === null), timestamp);
  }
}
