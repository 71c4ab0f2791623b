/** `aggregate` of a grouped table, with an adder and a subtractor (KTableAggregate); `count` is one of them. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import { TableAggregation } from './table-aggregation.js';
import type { AggregationTable } from './table-operator.js';
import type { Aggregator, Awaitable, Initializer } from './user-functions.js';

export interface TableAggregateOptions<K, V, A> extends AggregationTable {
  readonly initializer: Initializer<A>;
  readonly adder: Aggregator<K, V, A>;
  readonly subtractor: Aggregator<K, V, A>;
}

export function tableAggregateOperator<K, V, A>(options: TableAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new TableAggregateOperator(options);
}

/** How many rows each group has; 0 once all have left. */
export function tableCountOperator({ storeName, emit }: AggregationTable): OperatorSupplier {
  return tableAggregateOperator<unknown, unknown, number>({
    storeName,
    emit,
    initializer: () => 0,
    adder: (count) => count + 1,
    subtractor: (count) => count - 1,
  });
}

class TableAggregateOperator<K, V, A> extends TableAggregation<K, V, A> {
  constructor(private readonly options: TableAggregateOptions<K, V, A>) {
    super(options);
  }

  protected subtract(aggregate: A, value: V, key: K): Awaitable<A | null> {
    return this.options.subtractor(aggregate, value, key);
  }

  protected plus(aggregate: A | null, value: V, key: K): Awaitable<A | null> {
    if (aggregate !== null && aggregate !== undefined) return this.options.adder(aggregate, value, key);
    const initial = this.options.initializer();
    if (isPromiseLike(initial)) return this.plusLater(initial, value, key);
    return this.options.adder(initial, value, key);
  }

  protected countsTimestamp(): boolean {
    return true;
  }

  private async plusLater(initial: PromiseLike<A>, value: V, key: K): Promise<A | null> {
    return this.options.adder(await initial, value, key);
  }
}
