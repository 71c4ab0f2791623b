/**
 * Keeps the changes of a computed table in its store and passes them on: the result of a join of tables, of a foreign-key join, of whatever
 * is materialised and not a source.
 *
 * With a versioned store a change that comes out of order may not be the latest row, and one older than the history is dropped and counted.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { StoreSpec } from '../stores/store.js';
import type { TableEmit } from './emit.js';
import type { Change, OperatorSupplier } from './operator.js';
import { TableOperator } from './table-operator.js';

export function tableWriterOperator(store: StoreSpec, emit: TableEmit): OperatorSupplier {
  return () => new TableWriter(store.name, emit);
}

class TableWriter<K, V> extends TableOperator<K, Change<V>, V> {
  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    return this.update(this.store.locate(key), key, change.newValue, change.oldValue, timestamp);
  }
}
