import { noHeaders, type Headers } from '../bytes/headers.js';
import type { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import { MillraceError } from '../errors.js';
import type { WorkInTurn } from '../processors/call-count.js';
import type { RecordContext } from '../processors/operator.js';
import type { TakenRecord } from '../processors/taken-record.js';
import { RecordCopy, type SourceBytes } from './record-copy.js';
import type { CompiledSerde } from '../serdes/serde.js';

/**
 * The record that a task has in work: one mutable object a task.
 *
 * Besides the public fields it remembers the key's bytes as they were read. A sink or store that still sees the same primitive key, under the
 * same serde, copies those bytes instead of encoding the key again. Only keys whose serde gives equal values equal bytes qualify (`valueIsIdentity`): an object may
 * have been changed in place, and a JSON key written by somebody else may have blanks in it, which would place it on another partition.
 */
export class TaskRecord implements RecordContext, WorkInTurn {
  topic: string | null = null;
  partition = -1;
  offset = -1;
  timestamp = -1;
  turn = 0;
  epoch = 0;
  /** The wall-clock timer that is firing; null outside of one. */
  timer: string | null = null;
  /** What leaves now stands for several input records, and for none of them alone. */
  isOfSeveral = false;

  /** Serde that `rawKey` was read with; null when the raw bytes may not be used. */
  rawKeySerde: object | null = null;
  rawKey: unknown = null;
  rawKeyBuffer: Buffer | null = null;
  rawKeyStart = 0;
  rawKeyEnd = 0;

  private isClosed = false;
  private cursor: SourceBytes | null = null;
  private override: Headers | null = null;
  /** The record in work when an operator took it along before; null for one that was just read. */
  taken: TakenRecord | null = null;

  headers(): Headers {
    if (this.override !== null) return this.override;
    return this.cursor === null ? noHeaders : this.cursor.headers();
  }

  /** The bytes of the record in work as it was read, for handlers. */
  get source(): SourceBytes | null {
    return this.cursor;
  }

  enter(topic: string, partition: number, timestamp: number, cursor: RecordCursor): void {
    this.turn++;
    this.topic = topic;
    this.partition = partition;
    this.offset = cursor.offset;
    this.timestamp = timestamp;
    this.cursor = cursor;
    this.override = null;
    this.taken = null;
    this.timer = null;
  }

  /** A record that an operator took along is in work again. */
  enterTaken(record: TakenRecord): void {
    this.turn++;
    this.topic = record.topic;
    this.partition = record.partition;
    this.offset = record.offset;
    this.timestamp = record.timestamp;
    this.cursor = record.source === null ? null : new RecordCopy(record.source);
    this.override = record.headers;
    this.taken = record;
    this.timer = null;
    this.rawKeySerde = null;
    this.rawKeyBuffer = null;
  }

  /** The task is given up: what a user function that is still pending does from now on must go nowhere. */
  close(): void {
    this.isClosed = true;
  }

  /** Called before anything leaves the task. */
  mustBeOpen(): void {
    if (this.isClosed)
      throw new MillraceError('MILL_STATE_INVALID', 'the task was given up while a function of it was pending: its result is dropped');
  }

  rememberKey(key: unknown, { serde, valueIsIdentity }: CompiledSerde<unknown>, cursor: RecordCursor): void {
    if (!valueIsIdentity || key === null) {
      this.rawKeySerde = null;
      return;
    }
    this.rawKeySerde = serde;
    this.rawKey = key;
    this.rawKeyBuffer = cursor.buffer;
    this.rawKeyStart = cursor.keyStart;
    this.rawKeyEnd = cursor.keyEnd;
  }

  /**
   * For what happens outside any record: punctuations and emissions at a barrier.
   *
   * @param timer of a wall-clock punctuation: the clock goes on over commits, so that what is tried again comes in any epoch
   */
  enterTimer(timestamp: number, timer: string | null = null): void {
    if (timer !== null) this.turn++;
    this.timer = timer;
    this.topic = null;
    this.partition = -1;
    this.offset = -1;
    this.timestamp = timestamp;
    this.rawKeySerde = null;
    this.rawKeyBuffer = null;
    this.cursor = null;
    this.override = null;
    this.taken = null;
  }

  /** Replaces the headers; returns what was in force, for `restoreHeaders`. */
  overrideHeaders(headers: Headers): Headers | null {
    const previous = this.override;
    this.override = headers;
    return previous;
  }

  restoreHeaders(previous: Headers | null): void {
    this.override = previous;
  }
}
