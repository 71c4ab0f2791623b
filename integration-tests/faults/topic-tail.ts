import { wholeBatches } from '../../src/kafka/fetcher/whole-batches.js';
import type { IsolationLevel, KafkaPort } from '../../src/kafka/port.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';

export interface ReadRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: Buffer | null;
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * Reads a topic from its beginning, as far as it goes at the moment of each `poll`. A partition that can't be read just then (its broker restarts, say) is read
 * by a later poll.
 */
export class TopicTail {
  readonly records: ReadRecord[] = [];
  private positions: number[] | null = null;
  private isStale = true;

  constructor(
    private readonly port: KafkaPort,
    readonly topic: string,
    private readonly isolation: IsolationLevel = 'read_committed',
  ) {}

  /** Takes in what has come since the last time, up to the last stable offset (or the high watermark). */
  async poll(): Promise<readonly ReadRecord[]> {
    const metadata = await this.port.metadata([this.topic], { refresh: this.isStale });
    // Until it is read through: a leader that is gone makes it throw.
    this.isStale = true;
    const partitions = metadata.topics.get(this.topic)?.partitions ?? [];
    this.positions ??= await this.starts(partitions.length);
    if (this.positions === null) return this.records;
    const ends = await this.port.listOffsets(
      partitions.map(({ partition }) => ({ topic: this.topic, partition, at: 'latest' as const, isolation: this.isolation })),
    );
    let isStale = false;
    for (const { partition, offset: end, errorCode } of ends) {
      let isReadable = errorCode === 0;
      while (isReadable && (this.positions[partition] ?? 0) < end) {
        isReadable = await this.read(partition, partitions[partition]?.leader ?? -1, this.positions);
      }
      if (!isReadable) isStale = true;
    }
    this.isStale = isStale;
    return this.records;
  }

  /** null while one of them is not known. */
  private async starts(count: number): Promise<number[] | null> {
    const queries = Array.from({ length: count }, (_, partition) => ({ topic: this.topic, partition, at: 'earliest' as const }));
    const starts: number[] = [];
    for (const { partition, offset, errorCode } of await this.port.listOffsets(queries)) {
      if (errorCode !== 0) return null;
      starts[partition] = offset;
    }
    return starts;
  }

  private async read(partition: number, leader: number, positions: number[]): Promise<boolean> {
    const offset = positions[partition] ?? 0;
    const { partitions } = await this.port.fetch(leader, {
      isolation: this.isolation,
      maxWaitMs: 100,
      minBytes: 1,
      maxBytes: 50_000_000,
      partitions: [{ topic: this.topic, partition, offset, maxBytes: 5_000_000 }],
    });
    const [fetched] = partitions;
    if (fetched?.errorCode !== 0) return false;
    const cursor = new RecordCursor();
    cursor.open(fetched.records, {
      topic: this.topic,
      partition,
      fetchOffset: offset,
      isolation: this.isolation,
      abortedTransactions: fetched.abortedTransactions,
    });
    while (cursor.next()) {
      this.records.push({
        partition,
        offset: cursor.offset,
        timestamp: cursor.timestamp,
        key: cursor.keyStart < 0 ? null : cursor.buffer.toString('utf8', cursor.keyStart, cursor.keyEnd),
        value: cursor.valueStart < 0 ? null : Buffer.from(cursor.buffer.subarray(cursor.valueStart, cursor.valueEnd)),
        headers: new Map(cursor.headers().map(({ key, value }) => [key, value === null ? '' : Buffer.from(value).toString()])),
      });
    }
    positions[partition] = Math.max(offset, wholeBatches(fetched.records, offset).nextOffset);
    return true;
  }
}
