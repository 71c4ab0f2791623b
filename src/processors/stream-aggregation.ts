/**
 * Base of the aggregations of a stream by key without windows (KStreamAggregate, KStreamReduce).
 *
 * Records without a key or without a value are dropped and counted. A row's timestamp is the highest of the records in it.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { OperatorContext } from './operator.js';
import { OwnValues } from './own-value.js';
import { TableOperator, type AggregationTable } from './table-operator.js';
import type { Awaitable } from './user-functions.js';

export abstract class StreamAggregation<K, V, A> extends TableOperator<K, V, A> {
  declare private own: OwnValues<A>;

  constructor(private readonly table: AggregationTable) {
    super(table.storeName, table.emit);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.own = new OwnValues(context, this.table.valueSerde ?? null);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    const entry = this.store.locate(key);
    const before = entry.value;
    const newTimestamp = before !== null && entry.timestamp > timestamp ? entry.timestamp : timestamp;
    const next = this.next(before, value, key);
    const after = before === null ? this.own.first(next, value) : next;
    if (isPromiseLike(after)) return this.updateLater(after, key, before, newTimestamp);
    return this.update(entry, key, after, before, newTimestamp);
  }

  /** The row after the record; `before === null` when the key has none yet. */
  protected abstract next(before: A | null, value: V, key: K): Awaitable<A | null>;

  private async updateLater(pending: PromiseLike<A | null>, key: K, before: A | null, timestamp: number): Promise<void> {
    const after = await pending;
    await this.update(this.store.locate(key), key, after, before, timestamp);
  }
}
