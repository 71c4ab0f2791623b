/**
 * Makes a table of a stream of records: each record replaces the row of its key, null deletes it (KTableSource).
 *
 * The last one to arrive wins, also when its timestamp is older, as in Kafka Streams' unversioned tables. Records without a key are dropped
 * and counted.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { TableEmit } from './emit.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorSupplier } from './operator.js';
import { TableOperator } from './table-operator.js';

export interface TableSourceOptions {
  /** null: the table is not kept, its changes carry no old value. */
  readonly storeName: string | null;
  readonly emit: TableEmit;
  /** Whether changes carry the row as it was. Default true: it is at hand. */
  readonly sendOldValues?: boolean;
}

export function tableSourceOperator(options: TableSourceOptions): OperatorSupplier {
  const { storeName, emit, sendOldValues = true } = options;
  if (storeName === null) return () => new UnkeptTableSource();
  return () => new TableSource(storeName, emit, sendOldValues);
}

class TableSource<K, V> extends TableOperator<K, V | null, V> {
  constructor(
    storeName: string,
    emit: TableEmit,
    private readonly sendOldValues: boolean,
  ) {
    super(storeName, emit);
  }

  process(key: K, value: V | null, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    const entry = this.store.locate(key);
    const before = this.sendOldValues ? entry.value : null;
    return this.update(entry, key, value, before, timestamp);
  }
}

class UnkeptTableSource<K, V> extends NodeOperator<K, V | null> {
  process(key: K, value: V | null, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    return this.downstream.process(key, new Change(value, null), timestamp);
  }
}
