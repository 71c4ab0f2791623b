/**
 * Joins each stream record with the table's current row (KStreamKTableJoin).
 *
 * Only the stream triggers results; they carry its key and timestamp. A record without a value is dropped and counted; so is one without
 * a key, except in a left join, where it joins with null (KIP-962).
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import type { Awaitable, TableJoiner } from './user-functions.js';

export interface StreamTableJoinOptions<K, V, T, R> {
  /** Store of the table's rows. */
  readonly storeName: string;
  /** `tableValue` is null only in a left join. */
  readonly joiner: TableJoiner<K, V, T, R>;
  readonly left: boolean;
}

export function streamTableJoinOperator<K, V, T, R>(options: StreamTableJoinOptions<K, V, T, R>): OperatorSupplier {
  return () => new StreamTableJoinOperator(options);
}

class StreamTableJoinOperator<K, V, T, R> extends NodeOperator<K, V> {
  private readonly joiner: TableJoiner<K, V, T | null, R>;
  private readonly left: boolean;
  declare private table: TimestampedKeyValueStore<K, T>;

  constructor(private readonly options: StreamTableJoinOptions<K, V, T, R>) {
    super();
    this.joiner = options.joiner as TableJoiner<K, V, T | null, R>;
    this.left = options.left;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.table = keyValueStore(context, this.options.storeName);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    let row: T | null = null;
    if (key !== null && key !== undefined) {
      row = this.table.get(key);
    } else if (!this.left) {
      this.context.dropped('null-key');
      return;
    }
    if (row === null && !this.left) return;
    const joined: Awaitable<R> = this.joiner(value, row, key);
    if (isPromiseLike(joined)) return this.forwardLater(joined, key, timestamp);
    return this.downstream.process(key, joined, timestamp);
  }

  private async forwardLater(pending: PromiseLike<unknown>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await pending, timestamp);
  }
}
