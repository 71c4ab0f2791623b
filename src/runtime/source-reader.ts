import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { kindOf } from '../processors/carried-value.js';
import type { Downstream } from '../processors/operator.js';
import { doneAtOnce } from '../processors/result-at-once.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';
import { failOnInvalidTimestamp } from '../time/timestamp-extractors.js';
import type { SourceNode } from '../topology/nodes.js';
import type { TaskFailures } from './failures.js';
import type { RecordQueue } from './record-queue.js';
import { serdeOwner } from './serde-defaults.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/**
 * A source node at work: turns the head record of a queue into key, value and time, and sends it down.
 *
 * With the default time (the record's own) a record is decoded when it is processed; a custom extractor or watermark generator needs the value, so then it is decoded as soon
 * as it becomes the head of its queue.
 */
export class SourceReader {
  /** Set by the task's wiring. */
  downstream: Downstream = { process: () => undefined };
  /** Set by the wiring when no child reads the value and every byte string decodes: then nobody can tell that it was not decoded. */
  leavesValueOut = false;
  readonly extractsAtHead: boolean;
  private readonly keySerde: CompiledSerde<unknown>;
  readonly valueSerde: CompiledSerde<unknown>;
  private readonly extractor: TimestampExtractor | null;

  constructor(
    readonly node: SourceNode,
    private readonly env: TaskEnvironment,
    private readonly record: TaskRecord,
    private readonly failures: TaskFailures,
  ) {
    this.keySerde = env.serde(node.keySerde, serdeOwner(node), 'key');
    this.valueSerde = env.serde(node.valueSerde, serdeOwner(node), 'value');
    // It gives the record's own time or fails, as is done without one: then nothing need be decoded ahead, and what nobody reads not at all.
    const extractor = node.timestampExtractor ?? env.defaultTimestampExtractor ?? null;
    this.extractor = extractor === failOnInvalidTimestamp ? null : extractor;
    this.extractsAtHead = this.extractor !== null || node.watermarks?.readsValues === true;
  }

  process(queue: RecordQueue): MaybeAsync {
    const { cursor } = queue;
    const timestamp = queue.headTimestamp;
    this.record.enter(queue.topic, queue.partition, timestamp, cursor);
    let key = queue.headKey;
    let value = queue.headValue;
    if (!this.extractsAtHead) {
      if (timestamp < 0) throw this.withoutTime(queue);
      try {
        key = cursor.keyStart < 0 ? null : this.keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
        if (cursor.valueStart < 0) value = null;
        else value = this.leavesValueOut ? leftOut : this.valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
      } catch (error) {
        return this.undecodable(error, queue, timestamp, 1);
      }
      if (isPromiseLike(key) || isPromiseLike(value)) return this.processLater(key, value, queue, timestamp, 1);
    }
    this.record.rememberKey(key, this.keySerde, cursor);
    return this.downstream.process(key, value, timestamp);
  }

  /** Decodes the head record and asks the extractor. `null`: the record is to be dropped. */
  extract(queue: RecordQueue, attempt = 1): number | null | Promise<number | null> {
    const { cursor } = queue;
    this.record.enter(queue.topic, queue.partition, cursor.timestamp, cursor);
    try {
      const key = cursor.keyStart < 0 ? null : this.keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
      const value = cursor.valueStart < 0 ? null : this.valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
      if (isPromiseLike(key) || isPromiseLike(value)) {
        return Promise.all([key, value]).then(
          ([lateKey, lateValue]) => this.timeOf(queue, lateKey, lateValue),
          (error: unknown) => this.drop(error, queue, attempt),
        );
      }
      queue.headKey = key;
      queue.headValue = value;
    } catch (error) {
      return this.drop(error, queue, attempt);
    }
    return this.timeOf(queue, queue.headKey, queue.headValue);
  }

  private timeOf(queue: RecordQueue, key: unknown, value: unknown): number | null {
    const { cursor, topic, partition } = queue;
    queue.headKey = key;
    queue.headValue = value;
    if (this.extractor === null) {
      if (cursor.timestamp < 0) throw this.withoutTime(queue);
      return cursor.timestamp;
    }
    const { offset, timestamp } = cursor;
    let extracted: number;
    try {
      extracted = timeGiven(this.extractor.extract({ key, value, timestamp, topic, partition, offset }, queue.partitionTime));
    } catch (error) {
      throw this.extractorFailed(error, queue);
    }
    if (extracted >= 0) return extracted;
    if (this.env.metrics.drop('invalid-timestamp') === 1) {
      this.env.logger.warn(
        { topic, partition, offset, extractor: this.extractor.name },
        'dropped a record without a valid timestamp; further ones are only counted',
      );
    }
    return null;
  }

  private drop(error: unknown, queue: RecordQueue, attempt: number): number | null | Promise<number | null> {
    const verdict = this.failures.undecodable(error, this.node.name, attempt);
    if (verdict === 'skip') return null;
    return Promise.resolve(verdict).then((late) => (late === 'skip' ? null : this.extract(queue, attempt + 1)));
  }

  private undecodable(error: unknown, queue: RecordQueue, timestamp: number, attempt: number): MaybeAsync {
    const verdict = this.failures.undecodable(error, this.node.name, attempt);
    if (verdict === 'skip') return;
    return Promise.resolve(verdict).then((late) => (late === 'skip' ? undefined : this.again(queue, timestamp, attempt + 1)));
  }

  private again(queue: RecordQueue, timestamp: number, attempt: number): MaybeAsync {
    const { cursor } = queue;
    let key: unknown;
    let value: unknown;
    try {
      key = cursor.keyStart < 0 ? null : this.keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
      value = cursor.valueStart < 0 ? null : this.valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
    } catch (error) {
      return this.undecodable(error, queue, timestamp, attempt);
    }
    return this.processLater(key, value, queue, timestamp, attempt);
  }

  private async processLater(key: unknown, value: unknown, queue: RecordQueue, timestamp: number, attempt: number): Promise<void> {
    let decoded: [unknown, unknown];
    try {
      decoded = await Promise.all([key, value]);
    } catch (error) {
      return this.undecodable(error, queue, timestamp, attempt);
    }
    this.record.rememberKey(decoded[0], this.keySerde, queue.cursor);
    return this.downstream.process(decoded[0], decoded[1], timestamp);
  }

  private extractorFailed(cause: unknown, { topic, partition, cursor }: RecordQueue): MillraceError {
    if (cause instanceof MillraceError) return cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const { offset } = cursor;
    return new MillraceError(
      'MILL_PROCESSING',
      `the timestamp extractor of ${this.node.name} failed on the record of ${topic}-${partition} at offset ${offset}: ${reason}`,
      { cause, details: { node: this.node.name, topic, partition, offset } },
    );
  }

  private withoutTime(queue: RecordQueue): MillraceError {
    const { topic, partition } = queue;
    const { offset, timestamp } = queue.cursor;
    return new MillraceError(
      'MILL_INVALID_TIMESTAMP',
      `the record of ${topic}-${partition} at offset ${offset} has timestamp ${timestamp}`,
      {
        details: { topic, partition, offset, timestamp },
      },
    );
  }
}

/** What an extractor gave, if it is a time or says that there is none. An answer that is neither is a fault of the function, and none of the record. @throws TypeError */
function timeGiven(extracted: unknown): number {
  if (typeof extracted === 'number' && (extracted < 0 || Number.isSafeInteger(extracted))) return extracted;
  throw new TypeError(
    `extract gave ${kindOf(doneAtOnce('extract', extracted))}: it must give whole milliseconds since 1970, or a negative number to drop the record`,
  );
}

/** Stands for a value that is there and was not decoded. */
const leftOut = Object.freeze({});
