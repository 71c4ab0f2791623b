/** Joins each stream record with the table's row at once (KStreamKTableJoin). Only the stream triggers results. */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import { StreamTableLookup, type StreamTableJoinOptions } from './stream-table-lookup.js';

export function streamTableJoinOperator<K, V, T, R>(options: StreamTableJoinOptions<K, V, T, R>): OperatorSupplier {
  return () => new StreamTableJoinOperator(options);
}

class StreamTableJoinOperator<K, V, T, R> extends StreamTableLookup<K, V, T, R> {
  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (this.takes(key, value)) return this.join(key, value, timestamp);
  }
}
