/** `count` of a stream by key and window. Results carry `Windowed` keys. */
import type { OperatorSupplier } from './operator.js';
import { WindowAggregation, type WindowAggregationOptions } from './window-aggregation.js';

export function windowCountOperator(options: WindowAggregationOptions): OperatorSupplier {
  return () => new WindowCountOperator(options);
}

class WindowCountOperator<K, V> extends WindowAggregation<K, V, number> {
  readonly ignoresValue = true;

  protected next(before: number | null): number {
    return before === null ? 1 : before + 1;
  }
}
