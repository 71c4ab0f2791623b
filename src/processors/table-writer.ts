/**
 * Keeps the changes of a computed table in its store and passes them on: the result of a join of tables, of a foreign-key join, of whatever
 * is materialised and not a source.
 *
 * With a versioned store a change that comes out of order may not be the latest row, and one older than the history is dropped and counted.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { StoreSpec, VersionedKeyValueStore } from '../stores/store.js';
import { versionedStore } from './connected-store.js';
import type { TableEmit } from './emit.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext, type OperatorSupplier } from './operator.js';
import { TableOperator } from './table-operator.js';

export function tableWriterOperator(store: StoreSpec, emit: TableEmit): OperatorSupplier {
  if (store.kind === 'versioned') return () => new VersionedTableWriter(store.name);
  return () => new TableWriter(store.name, emit);
}

class TableWriter<K, V> extends TableOperator<K, Change<V>, V> {
  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    return this.update(this.store.locate(key), key, change.newValue, change.oldValue, timestamp);
  }
}

class VersionedTableWriter<K, V> extends NodeOperator<K, Change<V>> {
  declare private store: VersionedKeyValueStore<K, V>;

  constructor(private readonly storeName: string) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = versionedStore(context, this.storeName);
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    const validTo = this.store.put(key, change.newValue, timestamp);
    if (validTo === 'rejected') {
      this.context.dropped('expired');
      return;
    }
    return this.downstream.process(key, new Change(change.newValue, change.oldValue, validTo === null), timestamp);
  }
}
