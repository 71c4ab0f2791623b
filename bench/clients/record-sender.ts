/**
 * Writes records with the library's own batch builder and Produce requests, several on their way at once: the measured producer of the `produce`
 * row, and the loader of all inputs.
 */
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import type { KafkaPort, ProducePartition } from '../../src/kafka/port.js';
import { BatchMemory } from '../../src/kafka/record-batch/batch-memory.js';
import type { EncodedBatches } from '../../src/kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { serdes } from '../../src/index.js';

const maxBatchBytes = 1_000_000;
/** Records are sent when so many bytes are there, over all partitions. */
const requestBytes = 512 * 1024;
const requestsInFlight = 4;
const timeoutMs = 30_000;

export class RecordSender {
  private readonly builders: readonly RecordBatchBuilder[];
  private readonly key = new ByteWriter(64);
  private readonly inFlight = new Set<Promise<void>>();
  private buffered = 0;
  private failure: Error | null = null;

  private constructor(
    private readonly port: KafkaPort,
    private readonly topic: string,
    private readonly leaders: readonly number[],
  ) {
    const memory = new BatchMemory(16 * 1024 * 1024);
    this.builders = leaders.map(() => new RecordBatchBuilder({ maxBatchBytes, memory }));
  }

  static async open(port: KafkaPort, topic: string): Promise<RecordSender> {
    const { topics } = await port.metadata([topic], { refresh: true });
    return new RecordSender(port, topic, topics.get(topic)?.partitions.map(({ leader }) => leader) ?? []);
  }

  /** Appends a record to its key's partition; true when it is time for `send`. */
  append(timestamp: number, key: string, value: Buffer): boolean {
    this.key.reset();
    serdes.string.encode(key, this.key);
    const { buffer, length } = this.key;
    const builder = this.builders[partitionForKey(buffer, 0, length, this.builders.length)];
    if (builder === undefined) throw new Error(`${this.topic} has no partitions`);
    this.buffered += builder.appendRaw(timestamp, buffer, 0, length, value, 0, value.length, null);
    return this.buffered >= requestBytes;
  }

  /** Sends what was appended, and resolves as soon as another request may be on its way. */
  async send(): Promise<void> {
    const byLeader = new Map<number, { partitions: ProducePartition[]; taken: { partition: number; batches: EncodedBatches }[] }>();
    this.builders.forEach((builder, partition) => {
      const batches = builder.take();
      if (batches === null) return;
      batches.stamp(null, 0);
      const leader = this.leaders[partition] ?? -1;
      const request = byLeader.get(leader) ?? { partitions: [], taken: [] };
      byLeader.set(leader, request);
      request.partitions.push({ topic: this.topic, partition, records: batches.batches.map(({ buffer }) => buffer) });
      request.taken.push({ partition, batches });
    });
    this.buffered = 0;
    for (const [leader, { partitions, taken }] of byLeader) {
      const sent: Promise<void> = this.produce(leader, partitions)
        .then(() => {
          for (const { partition, batches } of taken) this.builders[partition]?.recycle(batches);
        })
        .catch((error: unknown) => {
          this.failure = error instanceof Error ? error : new Error(String(error));
        })
        .finally(() => this.inFlight.delete(sent));
      this.inFlight.add(sent);
    }
    while (this.inFlight.size >= requestsInFlight) await Promise.race(this.inFlight);
    this.throwFailure();
  }

  /** Sends the rest and waits for every acknowledgement. */
  async flush(): Promise<void> {
    await this.send();
    await Promise.all(this.inFlight);
    this.throwFailure();
  }

  private async produce(leader: number, partitions: readonly ProducePartition[]): Promise<void> {
    const answer = await this.port.produce(leader, { transactionalId: null, acks: -1, timeoutMs, partitions });
    for (const { partition, errorCode } of answer.partitions) {
      if (errorCode !== 0) throw new Error(`Producing to ${this.topic}-${partition}: error ${errorCode}`);
    }
  }

  private throwFailure(): void {
    if (this.failure !== null) throw this.failure;
  }
}
