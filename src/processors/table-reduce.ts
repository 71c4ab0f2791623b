/** `reduce` of a grouped table (KTableReduce): the first value of a group is its row. */
import type { OperatorSupplier } from './operator.js';
import { TableAggregation } from './table-aggregation.js';
import type { AggregationTable } from './table-operator.js';
import type { Awaitable, Reducer } from './user-functions.js';

export interface TableReduceOptions<K, V> extends AggregationTable {
  readonly adder: Reducer<K, V>;
  readonly subtractor: Reducer<K, V>;
}

export function tableReduceOperator<K, V>(options: TableReduceOptions<K, V>): OperatorSupplier {
  return () => new TableReduceOperator(options);
}

class TableReduceOperator<K, V> extends TableAggregation<K, V, V> {
  constructor(private readonly options: TableReduceOptions<K, V>) {
    super(options);
  }

  protected subtract(aggregate: V, value: V, key: K): Awaitable<V | null> {
    return this.options.subtractor(aggregate, value, key);
  }

  protected plus(aggregate: V | null, value: V, key: K): Awaitable<V | null> {
    return aggregate === null || aggregate === undefined ? value : this.options.adder(aggregate, value, key);
  }

  /** A value that starts the group anew brings its own time. */
  protected countsTimestamp(subtracted: V | null): boolean {
    return subtracted !== null && subtracted !== undefined;
  }
}
