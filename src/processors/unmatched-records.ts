/**
 * The records of a left or outer stream-stream join that have no partner yet, and when they leave: shared by both sides of a join in one task.
 *
 * Rows of the buffer are (time, side, key), the right side before the left one at equal times, each with all records of that key and time. A record leaves unmatched when stream time has
 * passed its window and grace: `after` for left records, `before` for right ones. Stream time is the highest time seen on either side.
 *
 * `firstWaiting` is where the walk for closed windows stopped, as in Kafka Streams, which may be behind rows that still wait for their side's longer window: those leave with a later walk.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { SidedValue } from '../serdes/sided-values.js';
import type { TimeOrderedBuffer } from '../stores/store.js';
import type { JoinWindows } from '../time/join-windows.js';
import { ofRow } from './failed-row.js';

export const rightRank = 0;
export const leftRank = 1;

type Emit<K> = (key: K, sided: SidedValue, time: number) => MaybeAsync;

const shared = new WeakMap<object, UnmatchedRecords<never>>();

/** The one of a buffer. The left side, which is opened first, makes it anew: a task that begins again opens the same buffer with other rows. */
export function unmatchedRecords<K>(
  buffer: TimeOrderedBuffer<K, readonly SidedValue[]>,
  windows: JoinWindows,
  side: 'left' | 'right',
): UnmatchedRecords<K> {
  const known = side === 'left' ? undefined : (shared.get(buffer) as UnmatchedRecords<K> | undefined);
  if (known !== undefined) return known;
  const made = new UnmatchedRecords(buffer, windows);
  shared.set(buffer, made as unknown as UnmatchedRecords<never>);
  return made;
}

export class UnmatchedRecords<K> {
  /** Highest time seen on either side; -1 before the first record. */
  streamTime = -1;
  private firstWaiting: number;
  private leftOpen = false;
  private rightOpen = false;

  constructor(
    private readonly buffer: TimeOrderedBuffer<K, readonly SidedValue[]>,
    private readonly windows: JoinWindows,
  ) {
    this.firstWaiting = buffer.firstTime();
  }

  advance(timestamp: number): void {
    if (timestamp > this.streamTime) this.streamTime = timestamp;
  }

  add(key: K, left: boolean, value: unknown, timestamp: number): void {
    if (timestamp < this.firstWaiting) this.firstWaiting = timestamp;
    const rank = left ? leftRank : rightRank;
    const before = this.buffer.get(timestamp, rank, key);
    const sided: SidedValue = { left, value };
    this.buffer.put(timestamp, rank, key, before === null ? [sided] : [...before, sided]);
  }

  /** A record of that key, side and time found a partner: none of them is unmatched. */
  matched(key: K, left: boolean, timestamp: number): void {
    this.buffer.delete(timestamp, left ? leftRank : rightRank, key);
  }

  /** Takes out what can find no partner any more. @param reach how long the side that asks waits for partners after a record's time, ms */
  emitClosed(reach: number, emit: Emit<K>): MaybeAsync {
    if (this.firstWaiting + reach + this.windows.grace >= this.streamTime) return;
    this.firstWaiting = Infinity;
    this.leftOpen = false;
    this.rightOpen = false;
    return this.buffer.drain(this.isClosed, (time, rank, key, values) => this.emitFrom(0, rank, key, values, time, emit));
  }

  /** Takes out all that wait: no partner will come. */
  emitAll(emit: Emit<K>): MaybeAsync {
    return this.buffer.drain(
      () => true,
      (time, rank, key, values) => this.emitFrom(0, rank, key, values, time, emit),
    );
  }

  private readonly isClosed = (time: number, rank: number, key: K): boolean | 'skip' => {
    this.firstWaiting = time;
    if (this.leftOpen && this.rightOpen) return false;
    const reach = rank === leftRank ? this.windows.after : this.windows.before;
    if (time + reach + this.windows.grace < this.streamTime) return true;
    if (rank === leftRank) this.leftOpen = true;
    else this.rightOpen = true;
    // Kafka Streams meets the row's second record next, and stops there with the time of this row, not of the one behind it.
    if (this.leftOpen && this.rightOpen && (this.buffer.get(time, rank, key)?.length ?? 0) > 1) return false;
    return 'skip';
  };

  private emitFrom(first: number, rank: number, key: K, values: readonly SidedValue[], time: number, emit: Emit<K>): MaybeAsync {
    for (let index = first; index < values.length; index++) {
      const sided = values[index] as SidedValue;
      let pending: MaybeAsync;
      try {
        pending = emit(key, sided, time);
      } catch (error) {
        throw this.withoutFailed(error, index, rank, key, values, time);
      }
      if (pending !== undefined) return this.emitRest(pending, index, rank, key, values, time, emit);
    }
  }

  private async emitRest(
    pending: Promise<void>,
    index: number,
    rank: number,
    key: K,
    values: readonly SidedValue[],
    time: number,
    emit: Emit<K>,
  ): Promise<void> {
    try {
      await pending;
    } catch (error) {
      throw this.withoutFailed(error, index, rank, key, values, time);
    }
    await this.emitFrom(index + 1, rank, key, values, time, emit);
  }

  /** What has left and what has failed must not come again; what is behind it waits for the next walk. */
  private withoutFailed(error: unknown, index: number, rank: number, key: K, values: readonly SidedValue[], time: number): unknown {
    const behind = values.slice(index + 1);
    if (behind.length > 0) this.buffer.put(time, rank, key, behind);
    else this.buffer.delete(time, rank, key);
    return ofRow(error, key, values[index]?.value);
  }
}
