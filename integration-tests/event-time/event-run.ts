/** One application of the event-time tests: topics, instances, what was fed and what has to come of it, as if the input had come sorted. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import type { StreamsConfig } from '../../src/index.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { JobProcess } from '../faults/job-process.js';
import { KafkaProxy } from '../faults/kafka-proxy.js';
import { TopicTail } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';
import { reminderAfter, windowSize } from './event-topology.js';
import { expectedJoins, type ExpectedJoins } from './joins-model.js';
import type { EventJobSetup, JobTopics } from './job.js';

const jobFile = fileURLToPath(new URL('./job.ts', import.meta.url));
const outputs = ['means', 'totals', 'reminders', 'late', 'hops', 'temporal', 'pairs'] as const;
type Output = (typeof outputs)[number];

export interface Reading {
  readonly device: string;
  readonly value: number;
  /** ms */
  readonly timestamp: number;
  readonly partition: number;
}

export interface EventRunOptions {
  readonly partitions?: number;
  readonly idleness?: number;
  /** Runs the job of the joins instead. */
  readonly joins?: boolean;
  readonly config?: Partial<StreamsConfig>;
}

export class EventRun {
  readonly instances: JobProcess[] = [];
  private readonly fed: Reading[] = [];
  private readonly fedVersions: Reading[] = [];
  private readonly tails: Readonly<Record<Output, TopicTail>>;
  private readonly proxies: KafkaProxy[] = [];

  private constructor(
    private readonly applicationId: string,
    private readonly topics: JobTopics,
    private readonly port: KafkaPort,
    private readonly producer: Producer,
    private readonly folder: string,
    private readonly brokers: readonly string[],
    private readonly options: EventRunOptions,
  ) {
    this.tails = Object.fromEntries(outputs.map((name) => [name, new TopicTail(port, topics[name])])) as Record<Output, TopicTail>;
  }

  static async create(name: string, options: EventRunOptions = {}): Promise<EventRun> {
    const applicationId = `${name}-${randomUUID().slice(0, 8)}`;
    const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
    const port = createKafkajsPort({ brokers, clientId: 'event-test' }, silentLogger);
    await port.connect();
    const topics = Object.fromEntries(
      ['readings', 'versions', ...outputs].map((topic) => [topic, `${applicationId}-${topic}`]),
    ) as unknown as JobTopics;
    const partitions = options.partitions ?? 3;
    await port.admin.createTopics(
      Object.values(topics as unknown as Record<string, string>).map((topic) => ({
        topic,
        partitions,
        replicationFactor: -1,
        configs: {},
      })),
    );
    const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const folder = await mkdtemp(join(tmpdir(), 'millrace-event-'));
    return new EventRun(applicationId, topics, port, producer, folder, brokers, options);
  }

  instance(via = this.brokers): JobProcess {
    const { topics, options, applicationId } = this;
    const setup: EventJobSetup = {
      topics,
      idleness: options.idleness,
      joins: options.joins,
      config: { ...options.config, applicationId, bootstrapServers: [...via] },
    };
    const instance = new JobProcess(`instance ${this.instances.length}`, setup, { TMPDIR: this.folder }, jobFile);
    this.instances.push(instance);
    return instance;
  }

  async proxied(): Promise<{ readonly instance: JobProcess; readonly proxy: KafkaProxy }> {
    const proxies = await KafkaProxy.inFrontOf(this.brokers);
    this.proxies.push(...proxies);
    return { instance: this.instance(proxies.map(({ bootstrapServer }) => bootstrapServer)), proxy: proxies[0] as KafkaProxy };
  }

  async feed(readings: readonly Reading[]): Promise<void> {
    this.fed.push(...readings);
    await this.send(this.topics.readings, readings);
  }

  /** Feeds the other side of the joins. */
  async feedVersions(versions: readonly Reading[]): Promise<void> {
    this.fedVersions.push(...versions);
    await this.send(this.topics.versions, versions);
  }

  private async send(topic: string, readings: readonly Reading[]): Promise<void> {
    if (readings.length === 0) return;
    await this.producer.send({
      topic,
      messages: readings.map(({ device, value, timestamp, partition }) => {
        const bytes = Buffer.alloc(8);
        bytes.writeDoubleBE(value);
        return { key: device, value: bytes, timestamp: String(timestamp), partition };
      }),
    });
  }

  /** Committed `key value` of an output topic, in the order of its partitions. */
  async lines(output: Output): Promise<string[]> {
    return (await this.tails[output].poll()).map(({ key, value }) => `${key} ${String(value)}`);
  }

  /** What has to have come once event time has passed `time`. */
  expected(time: number): { readonly means: string[]; readonly reminders: string[] } {
    const windows = new Map<string, number[]>();
    for (const { device, value, timestamp } of this.fed) {
      const start = Math.floor(timestamp / windowSize) * windowSize;
      if (start + windowSize - 1 > time) continue;
      const name = `${device} ${start}`;
      windows.set(name, [...(windows.get(name) ?? []), value]);
    }
    const means = [...windows].map(([name, values]) => {
      const sum = values.reduce((a, b) => a + b, 0);
      return `${name}: ${sum}/${values.length}/${sum / values.length}`;
    });
    const due = this.fed.filter(({ timestamp }) => timestamp + reminderAfter <= time);
    return { means: means.sort(), reminders: due.map(({ device, timestamp, value }) => `${device} ${timestamp} ${value}`).sort() };
  }

  /** What has to have come of the joins once event time has passed `time`, and what has. */
  async joined(time: number): Promise<{ readonly expected: ExpectedJoins; readonly found: ExpectedJoins }> {
    const sorted = async (output: Output): Promise<string[]> => (await this.lines(output)).sort();
    const found = { hops: await sorted('hops'), temporal: await sorted('temporal'), pairs: await sorted('pairs') };
    return { expected: expectedJoins(this.fed, this.fedVersions, time), found };
  }

  /** Last total of each device. */
  async totals(): Promise<Map<string, string>> {
    const last = new Map<string, string>();
    for (const line of await this.lines('totals')) {
      const [device = '', total = ''] = line.split(' ');
      if (Number(total.split('/')[1]) > Number(last.get(device)?.split('/')[1] ?? 0)) last.set(device, total);
    }
    return last;
  }

  /** Waits until all is there that event time `time` calls for; gives what is there. */
  async settled(
    time: number,
    deadlineMs = 60_000,
  ): Promise<{ readonly means: string[]; readonly reminders: string[]; readonly late: string[] }> {
    const expected = this.expected(time);
    await until(
      `results up to ${time}`,
      async () =>
        (await this.lines('means')).length >= expected.means.length && (await this.lines('reminders')).length >= expected.reminders.length,
      deadlineMs,
      () => this.story(),
    );
    const [means, reminders, late] = [await this.lines('means'), await this.lines('reminders'), await this.lines('late')];
    return { means: means.sort(), reminders: reminders.sort(), late };
  }

  story(): string {
    return this.instances.map((instance) => instance.story()).join('\n');
  }

  async end(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.producer.disconnect();
    await this.port.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
