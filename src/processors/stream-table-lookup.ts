/**
 * What joins of a stream with a table have in common, with a grace period or without (KStreamKTableJoin).
 *
 * A record looks up the row of its key: the current one, or in a versioned table the one as of the record's time. Results carry the record's key and timestamp.
 * A record without a value is dropped and counted; so is one without a key, except in a left join, where it joins with null (KIP-962).
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext } from './operator.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import type { Awaitable, TableJoiner } from './user-functions.js';

export interface StreamTableJoinOptions<K, V, T, R> {
  readonly table: TableGetterSupplier<K, T>;
  /** `tableValue` is null only in a left join. */
  readonly joiner: TableJoiner<K, V, T, R>;
  readonly left: boolean;
}

export abstract class StreamTableLookup<K, V, T, R> extends NodeOperator<K, V> {
  private readonly joiner: TableJoiner<K, V, T | null, R>;
  private readonly left: boolean;
  declare protected table: TableGetter<K, T>;

  constructor(private readonly options: StreamTableJoinOptions<K, V, T, R>) {
    super();
    this.joiner = options.joiner as TableJoiner<K, V, T | null, R>;
    this.left = options.left;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.table = this.options.table.open(context);
  }

  /** Whether a record takes part; counts it when it does not. */
  protected takes(key: K, value: V): boolean {
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return false;
    }
    if ((key === null || key === undefined) && !this.left) {
      this.context.dropped('null-key');
      return false;
    }
    return true;
  }

  protected join(key: K, value: V, timestamp: number): MaybeAsync {
    const row = key === null || key === undefined ? null : this.lookUp(key, timestamp);
    if (isPromiseLike(row)) return this.joinLater(row, key, value, timestamp);
    return this.joinRow(row, key, value, timestamp);
  }

  private lookUp(key: K, timestamp: number): Awaitable<T | null> {
    if (!this.table.versioned) return this.table.getValue(key);
    const row = this.table.getAsOf(key, timestamp);
    return isPromiseLike(row) ? valueLater(row) : (row?.value ?? null);
  }

  private joinRow(row: T | null, key: K, value: V, timestamp: number): MaybeAsync {
    if (row === null && !this.left) return;
    const joined: Awaitable<R> = this.joiner(value, row, key);
    if (isPromiseLike(joined)) return this.forwardLater(joined, key, timestamp);
    return this.downstream.process(key, joined, timestamp);
  }

  private async joinLater(row: PromiseLike<T | null>, key: K, value: V, timestamp: number): Promise<void> {
    await this.joinRow(await row, key, value, timestamp);
  }

  private async forwardLater(pending: PromiseLike<unknown>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await pending, timestamp);
  }
}

async function valueLater<T>(row: PromiseLike<{ readonly value: T } | null>): Promise<T | null> {
  return (await row)?.value ?? null;
}
