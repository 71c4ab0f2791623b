import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import { StreamsApp, type Logger, type StreamsConfig, type Topology } from '../../src/index.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { silentLogger } from '../../src/observability/logger.js';
import { TopicTail, type ReadRecord } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';

export interface Written {
  readonly key?: string | null;
  readonly value?: string | Buffer | null;
  readonly timestamp?: number;
  /** Default: that of the key. */
  readonly partition?: number;
}

/** Topics and apps of one test, in this process. Names are the test's own on the shared broker; `end` stops and removes what it made. */
export class Scenario {
  readonly apps: StreamsApp[] = [];
  readonly logged: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  private readonly counts = new Map<string, number>();

  private constructor(
    readonly id: string,
    readonly port: KafkaPort,
    readonly folder: string,
    private readonly brokers: readonly string[],
    private readonly sasl: object | undefined,
  ) {}

  static async begin(name: string, brokers = (process.env['KAFKA_BROKERS'] ?? '').split(','), sasl?: object): Promise<Scenario> {
    const port = createKafkajsPort({ brokers, clientId: 'pitfalls', sasl }, silentLogger);
    await port.connect();
    return new Scenario(`${name}-${randomUUID().slice(0, 8)}`, port, await mkdtemp(join(tmpdir(), 'millrace-pitfall-')), brokers, sasl);
  }

  /** Creates a topic; its full name. */
  async topic(name: string, partitions = 1, configs: Readonly<Record<string, string>> = {}): Promise<string> {
    const topic = `${this.id}-${name}`;
    const [created] = await this.port.admin.createTopics([{ topic, partitions, replicationFactor: -1, configs }]);
    if (created?.errorCode !== 0) throw new Error(`topic ${topic}: ${created?.errorCode} ${created?.errorMessage}`);
    this.counts.set(topic, partitions);
    return topic;
  }

  /** An instance that is not started yet, with a state directory of its own. */
  app(topology: Topology, config: Partial<StreamsConfig> = {}): StreamsApp {
    const app = new StreamsApp(topology, {
      applicationId: this.id,
      bootstrapServers: this.brokers,
      sasl: this.sasl,
      stateDir: join(this.folder, `instance-${this.apps.length}`),
      logger: this.logger,
      ...config,
    });
    this.apps.push(app);
    return app;
  }

  /** Starts an instance and waits until it runs. */
  async running(topology: Topology, config: Partial<StreamsConfig> = {}): Promise<StreamsApp> {
    const app = this.app(topology, config);
    await app.start();
    await until(
      'the app runs',
      () => app.state === 'running',
      60_000,
      () => this.story(),
    );
    return app;
  }

  async write(topic: string, records: readonly Written[]): Promise<void> {
    const partitions = this.counts.get(topic) ?? 1;
    const builders = Array.from({ length: partitions }, () => new RecordBatchBuilder({ maxBatchBytes: 1_000_000 }));
    for (const { key = null, value = null, timestamp = Date.now(), partition } of records) {
      const [keyBytes, valueBytes] = [key, value].map((part) => (part === null ? null : Buffer.from(part as Buffer)));
      const to = partition ?? (keyBytes ? partitionForKey(keyBytes, 0, keyBytes.length, partitions) : 0);
      builders[to]?.appendRaw(timestamp, keyBytes ?? null, 0, keyBytes?.length ?? 0, valueBytes ?? null, 0, valueBytes?.length ?? 0, null);
    }
    const { topics } = await this.port.metadata([topic]);
    for (const [partition, builder] of builders.entries()) {
      const taken = builder.take();
      if (taken === null) continue;
      taken.stamp(null, 0);
      const leader = topics.get(topic)?.partitions[partition]?.leader ?? -1;
      for (const { buffer } of taken.batches) {
        const request = {
          transactionalId: null,
          acks: -1,
          timeoutMs: 10_000,
          partitions: [{ topic, partition, records: [buffer] }],
        } as const;
        const [answer] = (await this.port.produce(leader, request)).partitions;
        if (answer?.errorCode !== 0) throw new Error(`${topic}-${partition}: error ${answer?.errorCode}`);
      }
    }
  }

  tail(topic: string): TopicTail {
    return new TopicTail(this.port, topic);
  }

  /** The topic's committed records, once there are as many as that. */
  async read(topic: string, count: number, deadlineMs = 60_000): Promise<readonly ReadRecord[]> {
    const tail = this.tail(topic);
    await until(
      `${count} records in ${topic}`,
      async () => (await tail.poll()).length >= count,
      deadlineMs,
      () => `${tail.records.length} are there\n${this.story()}`,
    );
    return tail.records;
  }

  story(): string {
    return this.logged
      .slice(-60)
      .map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields).slice(0, 300)}`)
      .join('\n');
  }

  async end(): Promise<void> {
    await Promise.all(this.apps.map((app) => app.close().catch(() => undefined)));
    await this.port.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  private get logger(): Logger {
    const at =
      (level: string) =>
      (fields: object, message: string): void => {
        this.logged.push({ level, message, fields });
      };
    const logger: Logger = { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error'), child: () => logger };
    return logger;
  }
}

/** Resolves with the error that stops the app. */
export function failureOf(app: StreamsApp): Promise<Error> {
  return new Promise((resolve) => {
    const off = app.on('error', (error) => {
      off();
      resolve(error);
    });
  });
}

export const text = (bytes: Buffer | null): string | null => bytes?.toString() ?? null;
