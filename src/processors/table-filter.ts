/**
 * The rows of a table for which a predicate holds (KTableFilter): a row that no longer passes is deleted.
 *
 * When changes carry old values, a row that did not pass before and does not pass now is left out; otherwise a tombstone goes out for it, since nobody
 * can tell whether it was there. A versioned table's changes all go out.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { OperatorSupplier } from './operator.js';
import { TableTransform, type TableTransformOptions } from './table-transform.js';
import type { Awaitable, Predicate } from './user-functions.js';

export interface TableFilterOptions<K, V> extends TableTransformOptions {
  readonly predicate: Predicate<K, V>;
  /** Keep the rows for which the predicate does not hold (`filterNot`). */
  readonly negate: boolean;
  /** Whether the parent is a versioned table. */
  readonly versioned: boolean;
}

export function tableFilterOperator<K, V>(options: TableFilterOptions<K, V>): OperatorSupplier {
  return () => new TableFilterOperator(options);
}

class TableFilterOperator<K, V> extends TableTransform<K, V, V> {
  protected readonly skipsAbsent: boolean;

  constructor(private readonly options: TableFilterOptions<K, V>) {
    super(options);
    this.skipsAbsent = this.sendOldValues && !options.versioned;
  }

  protected compute(value: V | null, key: K): Awaitable<V | null> {
    if (value === null || value === undefined) return null;
    const verdict: Awaitable<unknown> = this.options.predicate(value, key, this.meta);
    if (isPromiseLike(verdict)) return this.decideLater(verdict, value);
    return Boolean(verdict) === this.options.negate ? null : value;
  }

  private async decideLater(verdict: PromiseLike<unknown>, value: V): Promise<V | null> {
    return Boolean(await verdict) === this.options.negate ? null : value;
  }
}
