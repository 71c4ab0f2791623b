import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import type { SourceReader } from './source-reader.js';

/** What the queue's task has to know. */
export interface RecordQueueObserver {
  /** The head record was dropped before it was ever handed out; what became of it belongs to the epoch in work. */
  headDropped(): void;
  /**
   * A record without key and value has come to the head of a partition where such records may be watermarks. True when it was one: it is not data, and its
   * offset belongs to the epoch in work.
   */
  isWatermark?(queue: RecordQueue): boolean;
  /** The bound of a bounded run is reached. */
  endReached?(): void;
  /** Reading goes on at `to` because `from` is no longer in the log. */
  positionReset(from: number, to: number): void;
}

/**
 * The records of one input partition that a task has received and not yet processed: fetched chunks in order, and a cursor on the head record.
 *
 * Invariant: offsets handed out only ever increase; a chunk that would go back is a fault and is thrown, in production too. The one exception is a chunk
 * that says so: after an out-of-range position was set anew by policy (the topic was deleted and created again) reading goes on there. `committable` is
 * the offset to commit when everything handed out so far has been processed.
 */
export class RecordQueue {
  readonly cursor = new RecordCursor();
  /** True when the cursor stands on a record not yet processed. */
  hasHead = false;
  /** Extracted time of the head record. */
  headTimestamp = -1;
  /** Highest timestamp taken from this partition; -1 at first. */
  partitionTime: number;
  recordsTaken = 0;
  /** Id of the topic that the position is one in; null when it is not known. */
  topicId: string | null;
  /** True when the bound of a bounded run is reached: nothing more is taken. */
  hasEnded = false;
  /** True while the partition is too far ahead in event time and waits for the others. */
  held = false;
  /** Decoded head record, filled only by sources that need the value to tell the time. */
  headKey: unknown = null;
  headValue: unknown = null;

  private readonly chunks: FetchedChunk[] = [];
  private current: FetchedChunk | null = null;
  private position: number;
  /** Records from this offset on are not taken. */
  private readonly end: number;

  constructor(
    readonly topic: string,
    readonly partition: number,
    readonly source: SourceReader,
    private readonly isolation: 'read_committed' | 'read_uncommitted',
    start: { readonly offset: number; readonly partitionTime: number; readonly topicId?: string | null; readonly end?: number },
    private readonly released: (topic: string, partition: number, bytes: number) => void,
    private readonly observer: RecordQueueObserver,
    /** True for repartition topics: watermarks of upstream tasks lie among the records. */
    private readonly mayBeWatermark = false,
  ) {
    this.position = start.offset;
    this.partitionTime = start.partitionTime;
    this.topicId = start.topicId ?? null;
    this.end = start.end ?? Infinity;
    this.hasEnded = this.position >= this.end;
  }

  /** Offset to commit. */
  get committable(): number {
    return this.hasHead ? this.cursor.offset : this.position;
  }

  get isEmpty(): boolean {
    return !this.hasHead && this.current === null && this.chunks.length === 0;
  }

  add(chunk: FetchedChunk): void {
    if (this.hasEnded) this.release(chunk);
    else this.chunks.push(chunk);
  }

  /** Puts the cursor on the next record. False when nothing is left; a promise only while a record's time needs an async serde. */
  advance(): boolean | Promise<boolean> {
    this.hasHead = false;
    for (;;) {
      if (this.current === null && !this.openNext()) return false;
      if (!this.cursor.next()) {
        this.closeCurrent();
        if (this.position >= this.end) return this.reachEnd();
        continue;
      }
      if (this.cursor.offset >= this.end) return this.reachEnd();
      if (this.cursor.offset < this.position) throw this.wentBack();
      if (this.mayBeWatermark && this.cursor.keyStart < 0 && this.cursor.valueStart < 0 && this.observer.isWatermark?.(this) === true) {
        this.position = this.cursor.offset + 1;
        continue;
      }
      if (!this.source.extractsAtHead) {
        this.headTimestamp = this.cursor.timestamp;
        this.hasHead = true;
        return true;
      }
      const timestamp = this.source.extract(this);
      if (isPromiseLike(timestamp)) return timestamp.then((late) => this.accept(late) || this.advance());
      if (this.accept(timestamp)) return true;
    }
  }

  private reachEnd(): false {
    this.position = Math.max(this.position, this.end);
    this.hasEnded = true;
    this.clear();
    this.observer.endReached?.();
    return false;
  }

  /** The head record has been processed (or dropped). Call `advance` next. */
  taken(): void {
    this.position = this.cursor.offset + 1;
    this.hasHead = false;
    this.recordsTaken++;
  }

  /** Gives all buffered memory back. */
  clear(): void {
    this.hasHead = false;
    if (this.current !== null) this.release(this.current);
    this.current = null;
    for (const chunk of this.chunks) this.release(chunk);
    this.chunks.length = 0;
  }

  /** `null`: the record was undecodable or without time, and a handler chose to drop it. */
  private accept(timestamp: number | null): boolean {
    if (timestamp === null) {
      this.position = this.cursor.offset + 1;
      this.observer.headDropped();
      return false;
    }
    this.headTimestamp = timestamp;
    this.hasHead = true;
    return true;
  }

  private openNext(): boolean {
    const chunk = this.chunks.shift();
    if (chunk === undefined) return false;
    if (chunk.reset === true) this.moveTo(chunk.fetchOffset);
    if (chunk.fetchOffset < this.position) throw this.wentBack(chunk.fetchOffset);
    this.current = chunk;
    this.topicId = chunk.topicId;
    this.cursor.open(chunk.records, {
      fetchOffset: chunk.fetchOffset,
      isolation: this.isolation,
      abortedTransactions: chunk.abortedTransactions,
      topic: this.topic,
      partition: this.partition,
    });
    return true;
  }

  private moveTo(offset: number): void {
    this.observer.positionReset(this.position, offset);
    this.position = offset;
  }

  private closeCurrent(): void {
    if (this.current === null) return;
    this.position = Math.max(this.position, this.cursor.nextOffset);
    this.release(this.current);
    this.current = null;
    this.cursor.close();
  }

  private release(chunk: FetchedChunk): void {
    this.released(this.topic, this.partition, chunk.byteLength);
  }

  private wentBack(offset = this.cursor.offset): MillraceError {
    return new MillraceError('MILL_INVARIANT', `offset ${offset} of ${this.topic}-${this.partition} came after position ${this.position}`, {
      details: { topic: this.topic, partition: this.partition, offset, position: this.position },
    });
  }
}
