/** `aggregate` of a grouped stream. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import { StreamAggregation } from './stream-aggregation.js';
import type { AggregationTable } from './table-operator.js';
import type { Aggregator, Awaitable, Initializer } from './user-functions.js';

export interface StreamAggregateOptions<K, V, A> extends AggregationTable {
  readonly initializer: Initializer<A>;
  readonly aggregator: Aggregator<K, V, A>;
}

export function streamAggregateOperator<K, V, A>(options: StreamAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new StreamAggregateOperator(options);
}

class StreamAggregateOperator<K, V, A> extends StreamAggregation<K, V, A> {
  private readonly initializer: Initializer<A>;
  private readonly aggregator: Aggregator<K, V, A>;

  constructor(options: StreamAggregateOptions<K, V, A>) {
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
