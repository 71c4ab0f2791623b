import { partitionForKey } from '../../src/bytes/murmur2.js';
import { delay } from '../../src/kafka/backoff.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';

/** Milliseconds between two batches of a running load. */
const beatMs = 20;

/**
 * Writes the job's input: keys in turn, values that count up. What the topic then holds is what the job must have worked on; a batch whose
 * acknowledgement got lost is written again, and counts twice in the model as well.
 */
export class JobInput {
  sent = 0;
  private running: { stop: boolean; readonly done: Promise<void> } | null = null;

  constructor(
    private readonly port: KafkaPort,
    private readonly topic: string,
    private readonly partitions: number,
    private readonly keys: number,
  ) {}

  async send(count: number): Promise<void> {
    const builders = Array.from({ length: this.partitions }, () => new RecordBatchBuilder({ maxBatchBytes: 1_000_000 }));
    for (let i = 0; i < count; i++) {
      const number = this.sent + i;
      const key = Buffer.from(`key-${number % this.keys}`);
      const value = Buffer.alloc(4);
      value.writeInt32BE(Math.floor(number / this.keys));
      builders[partitionForKey(key, 0, key.length, this.partitions)]?.appendRaw(Date.now(), key, 0, key.length, value, 0, 4, null);
    }
    await Promise.all(builders.map((builder, partition) => this.write(partition, builder)));
    this.sent += count;
  }

  /** Begins to send `perSecond` records until `stop`. */
  start(perSecond: number): void {
    const load = { stop: false, done: Promise.resolve() };
    load.done = (async () => {
      const startedAt = performance.now();
      const before = this.sent;
      while (!load.stop) {
        const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) - (this.sent - before);
        if (due > 0) await this.send(due);
        await delay(beatMs);
      }
    })();
    load.done.catch(() => undefined);
    this.running = load;
  }

  async stop(): Promise<void> {
    const { running } = this;
    this.running = null;
    if (running === null) return;
    running.stop = true;
    await running.done;
  }

  private async write(partition: number, builder: RecordBatchBuilder): Promise<void> {
    const taken = builder.take();
    if (taken === null) return;
    taken.stamp(null, 0);
    for (const { buffer } of taken.batches) await this.writeUntilDone(partition, buffer);
  }

  private async writeUntilDone(partition: number, batch: Buffer): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const failed = await this.writeOnce(partition, batch, attempt > 1).catch((error: unknown) => String(error));
      if (failed === null) return;
      if (attempt === 500) throw new Error(`input could not be written: ${failed}`);
      await delay(100);
    }
  }

  private async writeOnce(partition: number, batch: Buffer, refresh: boolean): Promise<string | null> {
    const { topics } = await this.port.metadata([this.topic], { refresh });
    const leader = topics.get(this.topic)?.partitions[partition]?.leader ?? -1;
    const { partitions } = await this.port.produce(leader, {
      transactionalId: null,
      acks: -1,
      timeoutMs: 10_000,
      partitions: [{ topic: this.topic, partition, records: [batch] }],
    });
    return partitions[0]?.errorCode === 0 ? null : `error ${partitions[0]?.errorCode}`;
  }
}
