/**
 * Joins stream records with a versioned table once stream time has gone on by a grace period, so that rows that come late are still seen
 * (KStreamKTableJoin with `Joined.withGracePeriod`, KIP-923).
 *
 * Records wait in a buffer until their time is at or below stream time − grace, where stream time is the highest time of the records that went through the
 * buffer; then they are joined with the row as of their own time, in order of time, key and arrival. A record that is older than that when it comes is
 * joined at once, and so is one without a key.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { WaitingRecord } from '../serdes/waiting-records.js';
import type { TimeOrderedBuffer } from '../stores/store.js';
import { timeOrderedBuffer } from './connected-store.js';
import { ofRow } from './failed-row.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import { StreamTableLookup, type StreamTableJoinOptions } from './stream-table-lookup.js';

export interface StreamTableGraceJoinOptions<K, V, T, R> extends StreamTableJoinOptions<K, V, T, R> {
  /** Its values are lists of waiting records: those of one key and time, in order of arrival. */
  readonly bufferName: string;
  /** ms */
  readonly grace: number;
}

export function streamTableGraceJoinOperator<K, V, T, R>(options: StreamTableGraceJoinOptions<K, V, T, R>): OperatorSupplier {
  return () => new StreamTableGraceJoinOperator(options);
}

class StreamTableGraceJoinOperator<K, V, T, R> extends StreamTableLookup<K, V, T, R> {
  private readonly grace: number;
  private readonly bufferName: string;
  declare private buffer: TimeOrderedBuffer<K, readonly WaitingRecord<V>[]>;
  private observed = -1;

  constructor(options: StreamTableGraceJoinOptions<K, V, T, R>) {
    super(options);
    this.grace = options.grace;
    this.bufferName = options.bufferName;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.buffer = timeOrderedBuffer(context, this.bufferName);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (!this.takes(key, value)) return;
    if (key === null || key === undefined || timestamp < this.observed - this.grace) return this.join(key, value, timestamp);
    if (timestamp > this.observed) this.observed = timestamp;
    const waiting: WaitingRecord<V> = { value, headers: this.context.record.headers() };
    const before = this.buffer.get(timestamp, 0, key);
    this.buffer.put(timestamp, 0, key, before === null ? [waiting] : [...before, waiting]);
    return this.buffer.drain(this.isDue, this.release);
  }

  onEndOfInput(): MaybeAsync {
    return this.buffer.drain(() => true, this.release);
  }

  private readonly isDue = (time: number): boolean => time <= this.observed - this.grace;

  private readonly release = (time: number, _rank: number, key: K, records: readonly WaitingRecord<V>[]): MaybeAsync =>
    this.releaseFrom(0, time, key, records);

  private releaseFrom(first: number, time: number, key: K, records: readonly WaitingRecord<V>[]): MaybeAsync {
    for (let index = first; index < records.length; index++) {
      const { value, headers } = records[index] as WaitingRecord<V>;
      let pending: MaybeAsync;
      try {
        pending = this.context.withHeaders(headers, () => this.join(key, value, time));
      } catch (error) {
        throw this.withoutFailed(error, index, time, key, records);
      }
      if (pending !== undefined) return this.releaseRest(pending, index, time, key, records);
    }
  }

  private async releaseRest(
    pending: Promise<void>,
    index: number,
    time: number,
    key: K,
    records: readonly WaitingRecord<V>[],
  ): Promise<void> {
    try {
      await pending;
    } catch (error) {
      throw this.withoutFailed(error, index, time, key, records);
    }
    await this.releaseFrom(index + 1, time, key, records);
  }

  /** What has left and what has failed must not come again; what is behind it waits for the next record. */
  private withoutFailed(error: unknown, index: number, time: number, key: K, records: readonly WaitingRecord<V>[]): unknown {
    const behind = records.slice(index + 1);
    if (behind.length > 0) this.buffer.put(time, 0, key, behind);
    else this.buffer.delete(time, 0, key);
    return ofRow(error, key, records[index]?.value);
  }
}
