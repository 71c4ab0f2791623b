import { partitionForKey } from '../../src/bytes/murmur2.js';
import { delay } from '../../src/kafka/backoff.js';
import { ErrorCodes } from '../../src/kafka/error-codes.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import type { BatchIdentity } from '../../src/kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';

const DUPLICATE_SEQUENCE_NUMBER = 46;
const maxBatchBytes = 1_000_000;
/** 100 ms apart: as long as a cluster may take to come back. */
const attempts = 1200;

/**
 * Writes a topic as an idempotent producer does: whatever happens to brokers and answers, it holds each record once and each partition in the order of
 * appending.
 */
export class TopicWriter {
  private readonly builders: readonly RecordBatchBuilder[];
  private readonly sequences: number[];
  private identity: BatchIdentity | null = null;

  constructor(
    private readonly port: KafkaPort,
    private readonly topic: string,
    private readonly partitions: number,
  ) {
    this.builders = Array.from({ length: partitions }, () => new RecordBatchBuilder({ maxBatchBytes }));
    this.sequences = this.builders.map(() => 0);
  }

  append(timestamp: number, key: string, value: Buffer | null): void {
    const bytes = Buffer.from(key);
    const partition = partitionForKey(bytes, 0, bytes.length, this.partitions);
    this.builders[partition]?.appendRaw(timestamp, bytes, 0, bytes.length, value, 0, value?.length ?? 0, null);
  }

  /** Resolves when everything appended is acknowledged. Must not be called again before. */
  async flush(): Promise<void> {
    this.identity ??= await this.retried('a producer id', () => this.newIdentity());
    const { identity } = this;
    await Promise.all(
      this.builders.map(async (builder, partition) => {
        const taken = builder.take();
        if (taken === null) return;
        this.sequences[partition] = taken.stamp(identity, this.sequences[partition] ?? 0);
        for (const { buffer } of taken.batches) await this.retried(`${this.topic}-${partition}`, () => this.write(partition, buffer));
      }),
    );
  }

  /** Throws what the last attempt failed with. */
  private async retried<T>(what: string, attempt: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (count === attempts) throw new Error(`${what} could not be written: ${String(error)}`, { cause: error });
        await delay(100);
        // A stale view of the cluster is the usual reason.
        await this.port.metadata([this.topic], { refresh: true }).catch(() => undefined);
      }
    }
  }

  private async newIdentity(): Promise<BatchIdentity> {
    const { brokers } = await this.port.metadata([]);
    const answer = await this.port.initProducerId(brokers[0]?.nodeId ?? -1, { transactionalId: null, transactionTimeoutMs: 60_000 });
    if (answer.errorCode !== ErrorCodes.NONE) throw new Error(`error ${answer.errorCode}`);
    return { producerId: answer.producerId, producerEpoch: answer.producerEpoch, transactional: false };
  }

  private async write(partition: number, batch: Buffer): Promise<void> {
    const { topics } = await this.port.metadata([this.topic]);
    const leader = topics.get(this.topic)?.partitions[partition]?.leader ?? -1;
    const { partitions } = await this.port.produce(leader, {
      transactionalId: null,
      acks: -1,
      timeoutMs: 10_000,
      partitions: [{ topic: this.topic, partition, records: [batch] }],
    });
    const errorCode = partitions[0]?.errorCode ?? -1;
    if (errorCode !== ErrorCodes.NONE && errorCode !== DUPLICATE_SEQUENCE_NUMBER) throw new Error(`error ${errorCode}`);
  }
}
