/**
 * The log of one partition: record batches as bytes, offsets assigned at the append, and what read_committed readers need beside them.
 *
 * Invariants: offsets only grow; the last stable offset is the first offset of the oldest open transaction; an aborted transaction stays in the index as
 * long as its records may be read. There is one replica, so the high watermark is the log's end.
 */
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { AbortedTransaction, IsolationLevel } from '../../kafka/port.js';
import { RecordCursor } from '../../kafka/record-batch/record-cursor.js';
import { markerBatch, placed, stamped, type LogBatch } from './log-batch.js';
import { compacted } from './log-compaction.js';
import { ProducerStates, type CompletedTransaction } from './producer-states.js';

export interface AppendResult {
  readonly errorCode: number;
  readonly baseOffset: number;
  readonly logAppendTime: number;
}

export interface LogSlice {
  readonly records: Buffer;
  readonly abortedTransactions: readonly AbortedTransaction[];
}

const NO_BYTES = Buffer.alloc(0);

export class PartitionLog {
  readonly producers = new ProducerStates();
  logStartOffset = 0;
  /** High watermark. */
  endOffset = 0;
  private batches: LogBatch[] = [];
  private aborted: CompletedTransaction[] = [];

  constructor(
    readonly topic: string,
    readonly partition: number,
    /** Called after every change that a waiting reader may be interested in. */
    private readonly changed: () => void,
  ) {}

  get lastStableOffset(): number {
    const unstable = this.producers.firstUnstableOffset;
    return unstable === null ? this.endOffset : Math.max(unstable, this.logStartOffset);
  }

  end(isolation: IsolationLevel): number {
    return isolation === 'read_committed' ? this.lastStableOffset : this.endOffset;
  }

  /** @param stampTime the topic's LogAppendTime, or null when records keep their own */
  append(batch: LogBatch, stampTime: number | null): AppendResult {
    const repeated = this.producers.repetitionOf(batch);
    if (repeated !== null) return { errorCode: ErrorCodes.NONE, baseOffset: repeated, logAppendTime: stampTime ?? -1 };
    const errorCode = this.producers.check(batch);
    if (errorCode !== ErrorCodes.NONE) return { errorCode, baseOffset: -1, logAppendTime: -1 };
    const appended = placed(stampTime === null ? batch : stamped(batch, stampTime), this.endOffset);
    this.push(appended);
    this.producers.appended(appended);
    this.changed();
    return { errorCode, baseOffset: appended.baseOffset, logAppendTime: stampTime ?? -1 };
  }

  /** Ends the producer's transaction here. A marker of an old epoch is dropped, as the broker refuses it. */
  appendMarker(producerId: bigint, epoch: number, commit: boolean, timestamp: number): void {
    if (this.producers.checkMarker(producerId, epoch) !== ErrorCodes.NONE) return;
    const marker = placed(markerBatch(producerId, epoch, commit, timestamp), this.endOffset);
    this.push(marker);
    const ended = this.producers.ended(producerId, epoch, marker.baseOffset);
    if (ended !== null && !commit) this.aborted.push(ended);
    this.changed();
  }

  /**
   * Whole batches from the one that holds `offset` on, at most `maxBytes`; the last one is cut there, as brokers do. A first batch that is larger comes whole when
   * `atLeastOne`, else not at all.
   */
  read(offset: number, isolation: IsolationLevel, maxBytes: number, atLeastOne: boolean): LogSlice {
    const end = this.end(isolation);
    const parts: Buffer[] = [];
    let bytes = 0;
    let upTo = offset;
    for (let i = this.indexOf(offset); i < this.batches.length; i++) {
      const batch = this.batches[i] as LogBatch;
      if (batch.baseOffset >= end) break;
      const room = maxBytes - bytes;
      if (batch.bytes.length > room) {
        if (bytes === 0 && atLeastOne) {
          parts.push(batch.bytes);
          upTo = batch.lastOffset + 1;
        } else if (bytes > 0) parts.push(batch.bytes.subarray(0, Math.max(0, room)));
        break;
      }
      parts.push(batch.bytes);
      bytes += batch.bytes.length;
      upTo = batch.lastOffset + 1;
    }
    if (parts.length === 0) return { records: NO_BYTES, abortedTransactions: [] };
    const abortedTransactions =
      isolation === 'read_committed'
        ? this.aborted
            .filter(({ firstOffset, lastOffset }) => lastOffset >= offset && firstOffset < upTo)
            .map(({ producerId, firstOffset }) => ({ producerId, firstOffset }))
        : [];
    // A copy: readers keep views of it.
    return { records: Buffer.concat(parts), abortedTransactions };
  }

  /** Bytes that a reader at `offset` could get. */
  available(offset: number, isolation: IsolationLevel, maxBytes: number): number {
    const end = this.end(isolation);
    let bytes = 0;
    for (let i = this.indexOf(offset); i < this.batches.length && bytes < maxBytes; i++) {
      const batch = this.batches[i] as LogBatch;
      if (batch.baseOffset >= end) break;
      bytes += batch.bytes.length;
    }
    return Math.min(bytes, maxBytes);
  }

  /** Offset of the first record at or after `timestamp`, or -1. */
  offsetAt(timestamp: number, isolation: IsolationLevel): number {
    const end = this.end(isolation);
    const cursor = new RecordCursor();
    for (const batch of this.batches) {
      if (batch.isControl || batch.maxTimestamp < timestamp || batch.lastOffset < this.logStartOffset || batch.baseOffset >= end) continue;
      cursor.open(batch.bytes, {
        topic: this.topic,
        partition: this.partition,
        fetchOffset: Math.max(batch.baseOffset, this.logStartOffset),
        isolation: 'read_uncommitted',
        abortedTransactions: [],
      });
      while (cursor.next()) if (cursor.timestamp >= timestamp) return cursor.offset;
    }
    return -1;
  }

  /** -1 is the high watermark. OFFSET_OUT_OF_RANGE beyond it. */
  deleteBefore(offset: number): number {
    const before = offset === -1 ? this.endOffset : offset;
    if (before < 0 || before > this.endOffset) return ErrorCodes.OFFSET_OUT_OF_RANGE;
    this.logStartOffset = Math.max(this.logStartOffset, before);
    this.batches = this.batches.filter(({ lastOffset }) => lastOffset >= this.logStartOffset);
    this.aborted = this.aborted.filter(({ lastOffset }) => lastOffset >= this.logStartOffset);
    this.changed();
    return ErrorCodes.NONE;
  }

  /** What log compaction leaves: the last committed record of each key; what stands above the last stable offset stays as it is. */
  compact(options: { readonly dropTombstones: boolean }): void {
    this.batches = compacted(this.batches, this.aborted, this.lastStableOffset, options.dropTombstones);
    this.changed();
  }

  private push(batch: LogBatch): void {
    this.batches.push(batch);
    this.endOffset = batch.lastOffset + 1;
  }

  /** Of the first batch that reaches to `offset`. */
  private indexOf(offset: number): number {
    let [low, high] = [0, this.batches.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.batches[middle] as LogBatch).lastOffset < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
