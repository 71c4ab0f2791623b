/** `reduce` of a stream by key and sliding window. Results carry `Windowed` keys. */
import type { OperatorSupplier } from './operator.js';
import type { Awaitable, Reducer } from './user-functions.js';
import { SlidingAggregation, type SlidingAggregationOptions } from './sliding-aggregation.js';

export interface SlidingReduceOptions<K, V> extends SlidingAggregationOptions {
  readonly reducer: Reducer<K, V>;
}

export function slidingReduceOperator<K, V>(options: SlidingReduceOptions<K, V>): OperatorSupplier {
  return () => new SlidingReduceOperator(options);
}

class SlidingReduceOperator<K, V> extends SlidingAggregation<K, V, V> {
  private readonly reducer: Reducer<K, V>;

  constructor(options: SlidingReduceOptions<K, V>) {
    super(options);
    this.reducer = options.reducer;
  }

  protected next(before: V | null, value: V, key: K): Awaitable<V | null> {
    return before === null ? value : this.reducer(before, value, key);
  }
}
