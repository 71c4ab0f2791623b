/**
 * The driver's stand-in for the broker: what was written to each topic partition, as bytes, in the order of arrival.
 *
 * Records pass through the real record batch encoding, so a test sees what a broker would be sent. Offsets of a partition begin at 0 and have no gaps.
 */
import type { Headers } from '../bytes/headers.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import { readWatermarks } from '../runtime/watermark-record.js';

/** Kafka's default `max.message.bytes`. */
const maxBatchBytes = 1_048_588;

export interface LoggedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly timestamp: number;
  readonly headers: Headers;
}

export class TopicLog {
  private readonly topics = new Map<string, LoggedRecord[]>();
  private readonly ends = new Map<string, number>();
  private readonly open = new Map<string, { readonly topic: string; readonly partition: number; readonly builder: RecordBatchBuilder }>();

  /** Records of a topic over all partitions, oldest first. */
  records(topic: string): readonly LoggedRecord[] {
    return this.topics.get(topic) ?? [];
  }

  has(topic: string): boolean {
    return this.topics.has(topic);
  }

  /** Offset of the next record of a partition. */
  end(topic: string, partition: number): number {
    return this.ends.get(`${topic}-${partition}`) ?? 0;
  }

  /** Where records of a partition are appended; they arrive with the next `deliver`. */
  builder(topic: string, partition: number): RecordBatchBuilder {
    const id = `${topic}-${partition}`;
    let entry = this.open.get(id);
    if (entry === undefined) {
      entry = { topic, partition, builder: new RecordBatchBuilder({ maxBatchBytes }) };
      this.open.set(id, entry);
    }
    return entry.builder;
  }

  /** Takes in what was appended since the last call; the chunks are what a fetch of the new records would bring. */
  deliver(): FetchedChunk[] {
    const chunks: FetchedChunk[] = [];
    for (const { topic, partition, builder } of this.open.values()) {
      const taken = builder.take();
      if (taken === null) continue;
      taken.stamp(null, -1);
      const fetchOffset = this.end(topic, partition);
      let nextOffset = fetchOffset;
      const batches = taken.batches.map(({ buffer, recordCount }) => {
        const copy = Buffer.from(buffer);
        copy.writeBigInt64BE(BigInt(nextOffset));
        nextOffset += recordCount;
        return copy;
      });
      builder.recycle(taken);
      this.ends.set(`${topic}-${partition}`, nextOffset);
      const chunk = fetched(topic, partition, fetchOffset, nextOffset, Buffer.concat(batches));
      this.read(chunk);
      chunks.push(chunk);
    }
    return chunks;
  }

  private read(chunk: FetchedChunk): void {
    let records = this.topics.get(chunk.topic);
    if (records === undefined) this.topics.set(chunk.topic, (records = []));
    const cursor = new RecordCursor();
    cursor.open(chunk.records, { ...chunk, isolation: 'read_uncommitted' });
    while (cursor.next()) {
      // Watermarks between tasks are no data: nobody who reads a repartition topic has a use for them.
      if (cursor.keyStart < 0 && cursor.valueStart < 0 && readWatermarks(cursor.headers()) !== null) continue;
      records.push({
        partition: chunk.partition,
        offset: cursor.offset,
        key: cursor.keyStart < 0 ? null : cursor.buffer.subarray(cursor.keyStart, cursor.keyEnd),
        value: cursor.valueStart < 0 ? null : cursor.buffer.subarray(cursor.valueStart, cursor.valueEnd),
        timestamp: cursor.timestamp,
        headers: cursor.headers(),
      });
    }
  }
}

function fetched(topic: string, partition: number, fetchOffset: number, nextOffset: number, records: Buffer): FetchedChunk {
  return {
    topic,
    partition,
    topicId: null,
    fetchOffset,
    nextOffset,
    records,
    abortedTransactions: [],
    highWatermark: nextOffset,
    lastStableOffset: nextOffset,
    logStartOffset: 0,
    byteLength: records.length,
  };
}
