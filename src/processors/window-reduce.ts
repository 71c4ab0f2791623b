/** `reduce` of a stream by key and window. Results carry `Windowed` keys. */
import type { OperatorSupplier } from './operator.js';
import type { Awaitable, Reducer } from './user-functions.js';
import { WindowAggregation, type WindowAggregationOptions } from './window-aggregation.js';

export interface WindowReduceOptions<K, V> extends WindowAggregationOptions {
  readonly reducer: Reducer<K, V>;
}

export function windowReduceOperator<K, V>(options: WindowReduceOptions<K, V>): OperatorSupplier {
  return () => new WindowReduceOperator(options);
}

class WindowReduceOperator<K, V> extends WindowAggregation<K, V, V> {
  private readonly reducer: Reducer<K, V>;

  constructor(options: WindowReduceOptions<K, V>) {
    super(options);
    this.reducer = options.reducer;
  }

  protected next(before: V | null, value: V, key: K): Awaitable<V | null> {
    return before === null ? value : this.reducer(before, value, key);
  }
}
