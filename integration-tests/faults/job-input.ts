import { partitionForKey } from '../../src/bytes/murmur2.js';
import { delay } from '../../src/kafka/backoff.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { inputsOf, type JobTopics, type JobVariant } from '../exactly-once/job-topology.js';
import { TopicWriter } from './topic-writer.js';

/** Milliseconds between two batches of a running load. */
const beatMs = 20;
/** Milliseconds of event time between the load and what follows its end: past every window. */
const farMs = 10_000;

/**
 * Writes the job's input: keys in turn, values that count up; beside it, when the variant joins, rows of the table, some of them deleted, and the other stream.
 * No two records have the same timestamp, and each topic is in their order.
 */
export class JobInput {
  /** Records of the topic `input`. */
  sent = 0;
  private time = 0;
  private running: { stop: boolean; readonly done: Promise<void> } | null = null;
  private readonly writers: ReadonlyMap<keyof JobTopics, TopicWriter>;

  constructor(
    port: KafkaPort,
    topics: Partial<JobTopics>,
    variant: JobVariant,
    private readonly partitions: number,
    private readonly keys: number,
  ) {
    this.writers = new Map(inputsOf(variant).map((name) => [name, new TopicWriter(port, topics[name] ?? name, partitions)]));
  }

  async send(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const number = this.sent + i;
      const key = `key-${number % this.keys}`;
      this.append('input', key, Math.floor(number / this.keys));
      // What comes beside it looks arbitrary and depends on the number alone.
      const mixed = Math.imul(number + 1, 0x9e37_79b1) >>> 24;
      if (mixed % 8 < 3) this.append('others', key, number);
      if (mixed % 8 > 5) this.append('rows', key, mixed < 32 ? null : number);
    }
    await this.flush();
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

  /**
   * One record more in each partition of each topic, later than all windows of those before: with it, joins that wait for more input go on to the end of what
   * was sent.
   */
  async nudge(): Promise<void> {
    this.time = Math.max(this.time, Date.now()) + farMs;
    for (let partition = 0; partition < this.partitions; partition++) {
      const key = this.keyOf(partition);
      for (const name of this.writers.keys()) this.append(name, key, this.sent);
      this.sent++;
    }
    await this.flush();
  }

  private append(name: keyof JobTopics, key: string, number: number | null): void {
    const writer = this.writers.get(name);
    if (writer === undefined) return;
    this.time = Math.max(this.time + 1, Date.now());
    const value = number === null ? null : Buffer.alloc(4);
    value?.writeInt32BE(number ?? 0);
    writer.append(this.time, key, value);
  }

  private async flush(): Promise<void> {
    await Promise.all([...this.writers.values()].map((writer) => writer.flush()));
  }

  private keyOf(partition: number): string {
    for (let number = 0; ; number++) {
      const key = Buffer.from(`key-${number}`);
      if (partitionForKey(key, 0, key.length, this.partitions) === partition) return key.toString();
    }
  }
}
