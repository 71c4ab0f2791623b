/**
 * Base of the aggregations of a grouped table (KTableAggregate, KTableReduce).
 *
 * Each record is a change: a value to subtract, a value to add, or both, in this order, with one result. A value is subtracted only from an aggregate that
 * is there. The result's timestamp is the highest of the record and of the aggregate that it was built on. Changes apply in order of arrival.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { Change, OperatorContext } from './operator.js';
import { OwnValues } from './own-value.js';
import { TableOperator, type AggregationTable } from './table-operator.js';
import type { Awaitable } from './user-functions.js';

export abstract class TableAggregation<K, V, A> extends TableOperator<K, Change<V>, A> {
  declare private own: OwnValues<A>;

  constructor(private readonly table: AggregationTable) {
    super(table.storeName, table.emit);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.own = new OwnValues(context, this.table.valueSerde ?? null);
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    const entry = this.store.locate(key);
    const before = entry.value;
    const subtracted: Awaitable<A | null> =
      before !== null && change.oldValue !== null ? this.subtract(before, change.oldValue, key) : before;
    if (isPromiseLike(subtracted)) return this.addLater(subtracted, key, change, before, entry.timestamp, timestamp);
    return this.add(subtracted, key, change, before, entry.timestamp, timestamp);
  }

  /** The aggregate without the value. */
  protected abstract subtract(aggregate: A, value: V, key: K): Awaitable<A | null>;
  /** The aggregate with the value; `aggregate === null` when there is none. */
  protected abstract plus(aggregate: A | null, value: V, key: K): Awaitable<A | null>;
  /** Whether the timestamp of the row before counts, given what is left after subtraction. */
  protected abstract countsTimestamp(subtracted: A | null): boolean;

  private async addLater(
    subtracted: PromiseLike<A | null>,
    key: K,
    change: Change<V>,
    before: A | null,
    beforeTimestamp: number,
    timestamp: number,
  ): Promise<void> {
    await this.add(await subtracted, key, change, before, beforeTimestamp, timestamp);
  }

  private add(subtracted: A | null, key: K, change: Change<V>, before: A | null, beforeTimestamp: number, timestamp: number): MaybeAsync {
    const adds = change.newValue !== null;
    const counts = before !== null && (change.oldValue !== null || (adds && this.countsTimestamp(subtracted)));
    const newTimestamp = counts && beforeTimestamp > timestamp ? beforeTimestamp : timestamp;
    const after: Awaitable<A | null> = change.newValue !== null ? this.added(subtracted, change.newValue, key) : subtracted;
    if (isPromiseLike(after)) return this.writeLater(after, key, before, newTimestamp);
    return this.update(this.store.locate(key), key, after ?? null, before, newTimestamp);
  }

  private added(subtracted: A | null, value: V, key: K): Awaitable<A | null> {
    const after = this.plus(subtracted, value, key);
    return subtracted === null ? this.own.first(after, value) : after;
  }

  private async writeLater(after: PromiseLike<A | null>, key: K, before: A | null, timestamp: number): Promise<void> {
    const value = await after;
    await this.update(this.store.locate(key), key, value ?? null, before, timestamp);
  }
}
