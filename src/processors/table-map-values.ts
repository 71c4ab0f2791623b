/** A table with other values under the same keys (KTableMapValues). The mapper never sees null: a deleted row stays deleted. */
import type { OperatorSupplier } from './operator.js';
import { TableTransform, type TableTransformOptions } from './table-transform.js';
import type { Awaitable, ValueMapper } from './user-functions.js';

export interface TableMapValuesOptions<K, V, R> extends TableTransformOptions {
  readonly mapper: ValueMapper<K, V, R>;
}

export function tableMapValuesOperator<K, V, R>(options: TableMapValuesOptions<K, V, R>): OperatorSupplier {
  return () => new TableMapValuesOperator(options);
}

class TableMapValuesOperator<K, V, R> extends TableTransform<K, V, R> {
  protected readonly skipsAbsent = false;
  private readonly mapper: ValueMapper<K, V, R>;

  constructor(options: TableMapValuesOptions<K, V, R>) {
    super(options);
    this.mapper = options.mapper;
  }

  protected compute(value: V | null, key: K): Awaitable<R | null> {
    if (value === null || value === undefined) return null;
    return this.mapper(value, key, this.meta);
  }
}
