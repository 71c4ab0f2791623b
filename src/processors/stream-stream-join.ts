/**
 * One side of a join of two streams: finds the partners of each record in the window store of the other side (KStreamKStreamJoin).
 *
 * Results carry the key and the later one of both timestamps. Late records are joined too, with what the other store still has. A record without a key or a value is dropped and counted;
 * on a side that keeps unmatched records, one without a key is emitted at once with null (KIP-962). There, a record without partners waits among the unmatched ones, unless its window ended
 * before stream time: then it is emitted at once. Unmatched records whose windows have closed are emitted by a record that sets or repeats the highest time, before its own results.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { SidedValue } from '../serdes/sided-values.js';
import type { JoinWindowStore } from '../stores/store.js';
import type { JoinWindows } from '../time/join-windows.js';
import { joinWindowStore, timeOrderedBuffer } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import { unmatchedRecords, type UnmatchedRecords } from './unmatched-records.js';
import type { RowJoiner } from './user-functions.js';

export interface StreamStreamJoinOptions<K, V, VO, R> {
  readonly side: 'left' | 'right';
  /** Records of the other side. */
  readonly otherStoreName: string;
  readonly windows: JoinWindows;
  /** Gets the left value first, whichever side this is. */
  readonly joiner: RowJoiner<K, V, VO, R>;
  /** Whether this side's records leave unmatched. */
  readonly outer: boolean;
  /** Of a left or outer join, else null. */
  readonly unmatchedStoreName: string | null;
}

export function streamStreamJoinOperator<K, V, VO, R>(options: StreamStreamJoinOptions<K, V, VO, R>): OperatorSupplier {
  return () => new StreamStreamJoinSide(options as StreamStreamJoinOptions<K, unknown, unknown, R>);
}

interface Partner {
  readonly timestamp: number;
  readonly value: unknown;
}

class StreamStreamJoinSide<K, R> extends NodeOperator<K, unknown> {
  private readonly isLeft: boolean;
  private readonly before: number;
  private readonly after: number;
  private readonly outer: boolean;
  private readonly joiner: RowJoiner<K, unknown, unknown, R>;
  declare private others: JoinWindowStore<K, unknown>;
  private unmatched: UnmatchedRecords<K> | null = null;

  constructor(private readonly options: StreamStreamJoinOptions<K, unknown, unknown, R>) {
    super();
    const { side, windows, outer, joiner } = options;
    this.isLeft = side === 'left';
    this.before = this.isLeft ? windows.before : windows.after;
    this.after = this.isLeft ? windows.after : windows.before;
    this.outer = outer;
    this.joiner = joiner;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    const { otherStoreName, unmatchedStoreName, windows } = this.options;
    this.others = joinWindowStore(context, otherStoreName);
    if (unmatchedStoreName === null) return;
    const buffer = timeOrderedBuffer<K, readonly SidedValue[]>(context, unmatchedStoreName);
    this.unmatched = unmatchedRecords(buffer, windows, this.options.side);
    // Restored records count: a restart must not keep what had closed before it.
    this.unmatched.advance(this.others.observedTime());
  }

  process(key: K, value: unknown, timestamp: number): MaybeAsync {
    this.unmatched?.advance(timestamp);
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    if (key === null || key === undefined) {
      if (this.outer) return this.forwardAlone(key, value, timestamp);
      this.context.dropped('null-key');
      return;
    }
    if (this.unmatched !== null && timestamp === this.unmatched.streamTime) {
      let pending: MaybeAsync;
      try {
        pending = this.unmatched.emitClosed(this.after, this.emitUnmatched);
      } catch (error) {
        return this.joinAndFail(error, key, value, timestamp);
      }
      if (pending !== undefined) {
        return pending.then(
          () => this.join(key, value, timestamp),
          (error: unknown) => this.joinAndFail(error, key, value, timestamp),
        );
      }
    }
    return this.join(key, value, timestamp);
  }

  /** Both sides share the records that wait; the first to be told sends them all. */
  onEndOfInput(): MaybeAsync {
    return this.unmatched?.emitAll(this.emitUnmatched);
  }

  private join(key: K, value: unknown, timestamp: number): MaybeAsync {
    const to = Math.max(0, timestamp + this.after);
    const partners = this.others.fetch(key, Math.max(0, timestamp - this.before), to);
    if (partners.length > 0) return this.joinFrom(0, partners, key, value, timestamp);
    if (!this.outer || this.unmatched === null) return;
    if (to < this.unmatched.streamTime) return this.forwardAlone(key, value, timestamp);
    this.unmatched.add(key, this.isLeft, value, timestamp);
  }

  /** Another record has failed, whose window this one has closed: it is joined all the same. */
  private joinAndFail(error: unknown, key: K, value: unknown, timestamp: number): MaybeAsync {
    if (error instanceof MillraceError) throw error;
    const pending = this.join(key, value, timestamp);
    if (pending === undefined) throw error;
    return pending.then(() => {
      throw error;
    });
  }

  private joinFrom(first: number, partners: readonly Partner[], key: K, value: unknown, timestamp: number): MaybeAsync {
    for (let index = first; index < partners.length; index++) {
      const partner = partners[index] as Partner;
      this.unmatched?.matched(key, !this.isLeft, partner.timestamp);
      const pending = this.forward(key, value, partner.value, Math.max(timestamp, partner.timestamp));
      if (pending !== undefined) return pending.then(() => this.joinFrom(index + 1, partners, key, value, timestamp));
    }
  }

  private readonly emitUnmatched = (key: K, sided: SidedValue, time: number): MaybeAsync =>
    this.forwardPair(key, sided.left ? sided.value : null, sided.left ? null : sided.value, time);

  private forwardAlone(key: K, value: unknown, timestamp: number): MaybeAsync {
    return this.forward(key, value, null, timestamp);
  }

  private forward(key: K, value: unknown, partner: unknown, timestamp: number): MaybeAsync {
    return this.isLeft ? this.forwardPair(key, value, partner, timestamp) : this.forwardPair(key, partner, value, timestamp);
  }

  private forwardPair(key: K, left: unknown, right: unknown, timestamp: number): MaybeAsync {
    const joined = this.joiner(left, right, key);
    if (isPromiseLike(joined)) return this.forwardLater(joined, key, timestamp);
    return this.downstream.process(key, joined, timestamp);
  }

  private async forwardLater(joined: PromiseLike<R>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await joined, timestamp);
  }
}
