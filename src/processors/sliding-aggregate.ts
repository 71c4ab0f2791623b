/** `aggregate` of a stream by key and sliding window. Results carry `Windowed` keys. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import type { Aggregator, Awaitable, Initializer } from './user-functions.js';
import { SlidingAggregation, type SlidingAggregationOptions } from './sliding-aggregation.js';

export interface SlidingAggregateOptions<K, V, A> extends SlidingAggregationOptions {
  readonly initializer: Initializer<A>;
  readonly aggregator: Aggregator<K, V, A>;
}

export function slidingAggregateOperator<K, V, A>(options: SlidingAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new SlidingAggregateOperator(options);
}

class SlidingAggregateOperator<K, V, A> extends SlidingAggregation<K, V, A> {
  private readonly initializer: Initializer<A>;
  private readonly aggregator: Aggregator<K, V, A>;

  constructor(options: SlidingAggregateOptions<K, V, A>) {
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
