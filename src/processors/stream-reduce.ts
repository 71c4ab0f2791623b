/** `reduce` of a grouped stream: the first value of a key is its row, later ones go through the reducer. */
import type { OperatorSupplier } from './operator.js';
import { StreamAggregation } from './stream-aggregation.js';
import type { AggregationTable } from './table-operator.js';
import type { Awaitable, Reducer } from './user-functions.js';

export interface StreamReduceOptions<K, V> extends AggregationTable {
  readonly reducer: Reducer<K, V>;
}

export function streamReduceOperator<K, V>(options: StreamReduceOptions<K, V>): OperatorSupplier {
  return () => new StreamReduceOperator(options);
}

class StreamReduceOperator<K, V> extends StreamAggregation<K, V, V> {
  private readonly reducer: Reducer<K, V>;

  constructor(options: StreamReduceOptions<K, V>) {
    super(options);
    this.reducer = options.reducer;
  }

  protected next(before: V | null, value: V, key: K): Awaitable<V | null> {
    return before === null ? value : this.reducer(before, value, key);
  }
}
