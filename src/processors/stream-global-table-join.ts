/**
 * Joins each stream record with the global table's row of a key that a function makes of the record (KStreamGlobalKTableJoin).
 *
 * Results keep the stream's key, null included, and its timestamp. A record without a value is dropped and counted; one whose made key is null is
 * dropped and counted in an inner join and joins with null in a left join (KIP-962). There is no time order between the two sides.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import type { Awaitable, GlobalTableJoiner, ValueMapper } from './user-functions.js';

export interface StreamGlobalTableJoinOptions<K, V, GK, T, R> {
  readonly storeName: string;
  /** The table key of a stream record; null joins nothing. */
  readonly keyOf: ValueMapper<K, V, GK | null>;
  /** `tableValue` is null only in a left join. */
  readonly joiner: GlobalTableJoiner<K, V, GK | null, T, R>;
  readonly left: boolean;
}

export function streamGlobalTableJoinOperator<K, V, GK, T, R>(options: StreamGlobalTableJoinOptions<K, V, GK, T, R>): OperatorSupplier {
  return () => new StreamGlobalTableJoinOperator(options);
}

class StreamGlobalTableJoinOperator<K, V, GK, T, R> extends NodeOperator<K, V> {
  private readonly keyOf: ValueMapper<K, V, GK | null>;
  private readonly joiner: GlobalTableJoiner<K, V, GK | null, T | null, R>;
  private readonly left: boolean;
  declare private table: TimestampedKeyValueStore<GK, T>;

  constructor(private readonly options: StreamGlobalTableJoinOptions<K, V, GK, T, R>) {
    super();
    this.keyOf = options.keyOf;
    this.joiner = options.joiner as GlobalTableJoiner<K, V, GK | null, T | null, R>;
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
    this.meta.enter(timestamp);
    const tableKey = this.keyOf(value, key, this.meta);
    if (isPromiseLike(tableKey)) return this.joinLater(tableKey, key, value, timestamp);
    return this.join(tableKey, key, value, timestamp);
  }

  private async joinLater(pending: PromiseLike<GK | null>, key: K, value: V, timestamp: number): Promise<void> {
    await this.join(await pending, key, value, timestamp);
  }

  private join(tableKey: GK | null, key: K, value: V, timestamp: number): MaybeAsync {
    let row: T | null = null;
    if (tableKey !== null && tableKey !== undefined) {
      row = this.table.get(tableKey);
    } else if (!this.left) {
      this.context.dropped('null-join-key');
      return;
    }
    if (row === null && !this.left) return;
    const joined: Awaitable<R> = this.joiner(value, row, key, tableKey);
    if (isPromiseLike(joined)) return this.forwardLater(joined, key, timestamp);
    return this.downstream.process(key, joined, timestamp);
  }

  private async forwardLater(pending: PromiseLike<unknown>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await pending, timestamp);
  }
}
