/**
 * A light load whose gaps show: writes one record to each partition of an input topic every 10 ms, on time whether or not output comes, and notes when committed
 * counts of its keys appear in the output. The counts are checked: of each key they only grow, and end with the number of its records.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { serdes } from '../../src/index.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { Bench } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import { makeValues } from '../input/record-shape.js';
import { connect } from './connect.js';
import { OutputGaps } from './output-gaps.js';
import { RecordSender } from './record-sender.js';

const everyMs = 10;
const keysOfEach = 50;
const prefix = 'load-';

export class SteadyLoad {
  readonly gaps = new OutputGaps(partitions);
  private readonly keys = keysOfPartitions();
  private readonly sent = new Map<string, number>();
  private readonly counted = new Map<string, number>();
  private readonly cursor = new RecordCursor();
  private readonly value = Buffer.from(makeValues()[0] ?? '');
  private readonly fetcher: Fetcher;
  private rounds = 0;
  private stopped = false;
  private feeding: Promise<void> = Promise.resolve();
  private failure: Error | null = null;

  private constructor(
    private readonly port: KafkaPort,
    private readonly sender: RecordSender,
  ) {
    this.fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'latest',
      logger: silentLogger,
      onError: (error) => (this.failure = error),
      onData: (chunk) => {
        this.look(chunk);
        this.fetcher.consumed(chunk.byteLength, chunk);
      },
    });
  }

  /** Watches `output` from its present end on and begins to write to `input`. */
  static async start(bench: Bench, input: string, output: string): Promise<SteadyLoad> {
    const port = await connect(bench.brokers.split(','), 'bench-load');
    const load = new SteadyLoad(port, await RecordSender.open(port, input));
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic: output, partition }));
    const ends = await port.listOffsets(all.map((one) => ({ ...one, at: 'latest' })));
    for (const { topic, partition, offset } of ends) load.fetcher.assign({ topic, partition }, offset);
    load.fetcher.start();
    load.feeding = load.feed().catch((error: unknown) => {
      load.failure = error instanceof Error ? error : new Error(String(error));
    });
    return load;
  }

  now(): number {
    return performance.now();
  }

  /** Resolves when each partition has had output from now on. */
  async untilOutput(): Promise<void> {
    const from = this.now();
    await this.until(() => this.gaps.allSeenSince(from));
  }

  /** Stops writing, and waits until the output has every record counted. */
  async complete(): Promise<void> {
    this.stopped = true;
    await this.feeding;
    await this.until(() => [...this.sent].every(([key, records]) => this.counted.get(key) === records));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.feeding;
    await this.fetcher.stop();
    await this.port.close();
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.failure !== null) throw this.failure;
      await delay(10);
    }
  }

  private async feed(): Promise<void> {
    let dueAt = this.now();
    while (!this.stopped) {
      const time = Date.now();
      const turn = this.rounds++ % keysOfEach;
      for (const ofPartition of this.keys) {
        const key = ofPartition[turn] ?? '';
        this.sent.set(key, (this.sent.get(key) ?? 0) + 1);
        this.sender.append(time, key, this.value);
      }
      await this.sender.send();
      dueAt += everyMs;
      await delay(Math.max(0, dueAt - this.now()));
    }
    await this.sender.flush();
  }

  private look(chunk: FetchedChunk): void {
    const { cursor } = this;
    const at = this.now();
    cursor.open(chunk.records, { ...chunk, isolation: 'read_committed' });
    let isSeen = false;
    while (cursor.next()) {
      const key = cursor.buffer.toString('latin1', cursor.keyStart, cursor.keyEnd);
      if (!key.startsWith(prefix)) continue;
      isSeen = true;
      const count = Number(cursor.buffer.readBigInt64BE(cursor.valueStart));
      if (count <= (this.counted.get(key) ?? 0) || count > (this.sent.get(key) ?? 0))
        this.failure = new Error(`${key} is counted ${count} after ${this.counted.get(key) ?? 0}, with ${this.sent.get(key) ?? 0} sent`);
      this.counted.set(key, count);
    }
    if (isSeen) this.gaps.seen(chunk.partition, at);
  }
}

function keysOfPartitions(): readonly (readonly string[])[] {
  const keys: string[][] = Array.from({ length: partitions }, () => []);
  for (let i = 0; keys.some(({ length }) => length < keysOfEach); i++) {
    const key = `${prefix}${i}`;
    const bytes = serdes.string.serialize(key);
    const ofPartition = keys[partitionForKey(bytes, 0, bytes.length, partitions)];
    if (ofPartition !== undefined && ofPartition.length < keysOfEach) ofPartition.push(key);
  }
  return keys;
}
