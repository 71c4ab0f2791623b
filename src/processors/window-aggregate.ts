/** `aggregate` of a stream by key and window. Results carry `Windowed` keys. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import type { Aggregator, Awaitable, Initializer } from './user-functions.js';
import { WindowAggregation, type WindowAggregationOptions } from './window-aggregation.js';

export interface WindowAggregateOptions<K, V, A> extends WindowAggregationOptions {
  readonly initializer: Initializer<A>;
  readonly aggregator: Aggregator<K, V, A>;
}

export function windowAggregateOperator<K, V, A>(options: WindowAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new WindowAggregateOperator(options);
}

class WindowAggregateOperator<K, V, A> extends WindowAggregation<K, V, A> {
  private readonly initializer: Initializer<A>;
  private readonly aggregator: Aggregator<K, V, A>;

  constructor(options: WindowAggregateOptions<K, V, A>) {
    super(options);
    this.initializer = options.initializer;
    this.aggregator = options.aggregator;
  }

  protected next(before: A | null, value: V, key: K): Awaitable<A | null> {
    if (before !== null) return this.aggregator(before, value, key);
    const initial = this.initializer();
    if (isPromiseLike(initial)) return this.nextLater(initial, value, key);
    return this.aggregator(initial, value, key);
  }

  private async nextLater(initial: PromiseLike<A>, value: V, key: K): Promise<A | null> {
    return this.aggregator(await initial, value, key);
  }
}
