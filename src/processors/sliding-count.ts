/** `count` of a stream by key and sliding window. Results carry `Windowed` keys. */
import type { OperatorSupplier } from './operator.js';
import { SlidingAggregation, type SlidingAggregationOptions } from './sliding-aggregation.js';

export function slidingCountOperator(options: SlidingAggregationOptions): OperatorSupplier {
  return () => new SlidingCountOperator(options);
}

class SlidingCountOperator<K, V> extends SlidingAggregation<K, V, number> {
  readonly ignoresValue = true;

  protected next(before: number | null): number {
    return before === null ? 1 : before + 1;
  }
}
