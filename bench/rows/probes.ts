/**
 * Light load that is timed: writes one record every 10 ms to an input topic and watches, read_committed, for the app's output with the same key.
 * Input is written on time whether or not output comes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { serdes } from '../../src/index.js';
import { silentLogger } from '../../src/observability/logger.js';
import { connect } from '../clients/connect.js';
import type { Bench } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import { makeValues } from '../input/record-shape.js';

const everyMs = 10;
const prefix = 'probe-';

export interface Seen {
  readonly index: number;
  /** Milliseconds from writing the record to seeing its committed output. */
  readonly latency: number;
}

export class Probes {
  /** Index of the probe that is sent next. */
  next = 0;
  private readonly sentAt: number[] = [];
  private readonly seenProbes = new Set<number>();
  private readonly listeners = new Set<(seen: Seen) => void>();
  private readonly cursor = new RecordCursor();
  private readonly key = new ByteWriter(64);
  private readonly builder = new RecordBatchBuilder({ maxBatchBytes: 100_000 });
  private readonly value = Buffer.from(makeValues()[0] ?? '');
  private readonly fetcher: Fetcher;
  private stopped = false;
  private feeding: Promise<void> = Promise.resolve();
  private failure: Error | null = null;

  private constructor(
    private readonly port: KafkaPort,
    private readonly input: string,
    private readonly leaders: readonly number[],
  ) {
    this.fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'latest',
      logger: silentLogger,
      onError: (error) => this.fail(error),
      onData: (chunk) => {
        this.look(chunk);
        this.fetcher.consumed(chunk.byteLength, chunk);
      },
    });
  }

  /** Watches `output` from its present end on and begins to write to `input`. */
  static async start(bench: Bench, input: string, output: string): Promise<Probes> {
    const port = await connect(bench.brokers.split(','), 'bench-probes');
    const { topics } = await port.metadata([input, output]);
    const probes = new Probes(port, input, topics.get(input)?.partitions.map(({ leader }) => leader) ?? []);
    await probes.watch(output);
    probes.feeding = probes.feed().catch((error: unknown) => {
      probes.fail(error);
    });
    return probes;
  }

  /** The first output from now on of a probe that was sent as number `from` or later. */
  firstSeen(from: number): Promise<Seen> {
    return new Promise((resolve) => {
      const listener = (seen: Seen): void => {
        if (seen.index < from) return;
        this.listeners.delete(listener);
        resolve(seen);
      };
      this.listeners.add(listener);
    });
  }

  /** Latencies of the next `count` probes seen that were sent as number `from` or later. */
  latencies(from: number, count: number): Promise<number[]> {
    const found: number[] = [];
    return new Promise((resolve) => {
      const listener = ({ index, latency }: Seen): void => {
        if (index >= from) found.push(latency);
        if (found.length < count) return;
        this.listeners.delete(listener);
        resolve(found);
      };
      this.listeners.add(listener);
    });
  }

  /** Stops writing and watching. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.feeding;
    await this.fetcher.stop();
    await this.port.close();
    if (this.failure !== null) throw this.failure;
  }

  private async watch(output: string): Promise<void> {
    const indices = Array.from({ length: partitions }, (_, partition) => ({ topic: output, partition }));
    const ends = await this.port.listOffsets(indices.map((one) => ({ ...one, at: 'latest' })));
    for (const { topic, partition, offset } of ends) this.fetcher.assign({ topic, partition }, offset);
    this.fetcher.start();
  }

  private look(chunk: FetchedChunk): void {
    const now = performance.now();
    const { cursor } = this;
    cursor.open(chunk.records, { ...chunk, isolation: 'read_committed' });
    while (cursor.next()) {
      const key = cursor.buffer.toString('latin1', cursor.keyStart, cursor.keyEnd);
      if (!key.startsWith(prefix)) continue;
      const index = Number(key.slice(prefix.length));
      const sentAt = this.sentAt[index];
      if (sentAt === undefined || this.seenProbes.has(index)) continue;
      this.seenProbes.add(index);
      for (const listener of [...this.listeners]) listener({ index, latency: now - sentAt });
    }
  }

  private async feed(): Promise<void> {
    let dueAt = performance.now();
    const onTheirWay = new Set<Promise<void>>();
    while (!this.stopped) {
      const sent: Promise<void> = this.send().finally(() => onTheirWay.delete(sent));
      sent.catch((error: unknown) => {
        this.fail(error);
      });
      onTheirWay.add(sent);
      dueAt += everyMs;
      await delay(Math.max(0, dueAt - performance.now()));
    }
    await Promise.allSettled(onTheirWay);
  }

  private fail(error: unknown): void {
    if (!this.stopped) this.failure = error instanceof Error ? error : new Error(String(error));
  }

  private async send(): Promise<void> {
    const index = this.next++;
    this.key.reset();
    serdes.string.encode(`${prefix}${index}`, this.key);
    const { buffer, length } = this.key;
    const partition = partitionForKey(buffer, 0, length, this.leaders.length);
    this.builder.appendRaw(Date.now(), buffer, 0, length, this.value, 0, this.value.length, null);
    const batches = this.builder.take();
    if (batches === null) return;
    batches.stamp(null, 0);
    this.sentAt[index] = performance.now();
    const records = batches.batches.map((batch) => batch.buffer);
    const request = {
      transactionalId: null,
      acks: -1,
      timeoutMs: 30_000,
      partitions: [{ topic: this.input, partition, records }],
    } as const;
    const answer = await this.port.produce(this.leaders[partition] ?? -1, request);
    if (answer.partitions[0]?.errorCode !== 0) throw new Error(`Producing a probe: error ${answer.partitions[0]?.errorCode ?? 'unknown'}`);
  }
}
