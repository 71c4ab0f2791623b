/**
 * Join of a stream with itself over one store (KStreamKStreamSelfJoin, the optimisation `singleStoreSelfJoin`).
 *
 * For each record: its partners as the left side, then as the right side, with the pair of the record and itself where it belongs by time. Within one record the order of results may differ from
 * that of two stores.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { JoinWindowStore } from '../stores/store.js';
import type { JoinWindows } from '../time/join-windows.js';
import { joinWindowStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import type { RowJoiner } from './user-functions.js';

export interface StreamSelfJoinOptions<K, V, VO, R> {
  readonly storeName: string;
  readonly windows: JoinWindows;
  readonly joiner: RowJoiner<K, V, VO, R>;
}

export function streamSelfJoinOperator<K, V, VO, R>(options: StreamSelfJoinOptions<K, V, VO, R>): OperatorSupplier {
  return () => new StreamSelfJoin(options as StreamSelfJoinOptions<K, unknown, unknown, R>);
}

/** A result that is about to go out: the pair and its time. */
interface Pair {
  readonly left: unknown;
  readonly right: unknown;
  readonly timestamp: number;
}

class StreamSelfJoin<K, R> extends NodeOperator<K, unknown> {
  declare private store: JoinWindowStore<K, unknown>;

  constructor(private readonly options: StreamSelfJoinOptions<K, unknown, unknown, R>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = joinWindowStore(context, this.options.storeName);
  }

  process(key: K, value: unknown, timestamp: number): MaybeAsync {
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    return this.forwardFrom(0, this.pairs(key, value, timestamp), key);
  }

  private pairs(key: K, value: unknown, timestamp: number): Pair[] {
    const { before, after } = this.options.windows;
    const pairs: Pair[] = [];
    for (const other of this.store.fetch(key, Math.max(0, timestamp - before), Math.max(0, timestamp + after))) {
      pairs.push({ left: value, right: other.value, timestamp: Math.max(timestamp, other.timestamp) });
    }
    // An expired record meets others and not itself, as it would with two stores.
    let waitsForSelf = timestamp > Math.max(this.store.observedTime(), timestamp) - this.store.retention + 1;
    for (const other of this.store.fetch(key, Math.max(0, timestamp - after), Math.max(0, timestamp + before))) {
      if (waitsForSelf && other.timestamp > timestamp) {
        pairs.push({ left: value, right: value, timestamp });
        waitsForSelf = false;
      }
      pairs.push({ left: other.value, right: value, timestamp: Math.max(timestamp, other.timestamp) });
    }
    if (waitsForSelf) pairs.push({ left: value, right: value, timestamp });
    return pairs;
  }

  private forwardFrom(first: number, pairs: readonly Pair[], key: K): MaybeAsync {
    for (let index = first; index < pairs.length; index++) {
      const { left, right, timestamp } = pairs[index] as Pair;
      const joined = this.options.joiner(left, right, key);
      const pending = isPromiseLike(joined) ? this.forwardLater(joined, key, timestamp) : this.downstream.process(key, joined, timestamp);
      if (pending !== undefined) return pending.then(() => this.forwardFrom(index + 1, pairs, key));
    }
  }

  private async forwardLater(joined: PromiseLike<R>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await joined, timestamp);
  }
}
