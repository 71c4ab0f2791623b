import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamsConfig } from '../../src/index.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { tryLockDirectory } from '../../src/stores/directory-lock.js';
import type { StackCredentials } from '../../scripts/stack/credentials.js';
import { JobOutput } from '../exactly-once/job-output.js';
import { joinConfig, topicsOf, type JobTopics, type JobVariant } from '../exactly-once/job-topology.js';
import { JobInput } from './job-input.js';
import { JobProcess } from './job-process.js';
import { KafkaProxy } from './kafka-proxy.js';
import { until } from './until.js';

const allTopics = [...new Set([...topicsOf('joins'), ...topicsOf('async')])];

export interface JobRunOptions {
  /** Default: those of the shared stack. */
  readonly brokers?: readonly string[];
  readonly variant?: JobVariant;
  /** Instances stop at the end of their input. */
  readonly bounded?: boolean;
  /** Default 3. */
  readonly partitions?: number;
  /** Different keys; default 60. */
  readonly keys?: number;
  /** Beyond the library's defaults. */
  readonly config?: Partial<StreamsConfig>;
  readonly credentials?: StackCredentials;
  /** What the instances run. Default: the job. */
  readonly file?: string;
  /** What they are told besides. */
  readonly setup?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * One application of its own: topics, input, instances and output. Instances keep their state where the library puts it by default, in a temporary folder
 * that is the run's own.
 */
export class JobRun {
  readonly input: JobInput;
  readonly output: JobOutput;
  readonly instances: JobProcess[] = [];
  private readonly proxies: KafkaProxy[] = [];

  private constructor(
    readonly applicationId: string,
    /** Those that the variant uses are there. */
    readonly topics: JobTopics,
    readonly port: KafkaPort,
    /** Stands in for the system's temporary folder. */
    readonly folder: string,
    private readonly brokers: readonly string[],
    readonly options: JobRunOptions,
  ) {
    const variant = options.variant ?? 'everything';
    this.input = new JobInput(port, topics, variant, options.partitions ?? 3, options.keys ?? 60);
    this.output = new JobOutput(port, topics, options.variant ?? 'everything', options.bounded);
  }

  static async create(name: string, options: JobRunOptions = {}): Promise<JobRun> {
    const applicationId = `${name}-${randomUUID().slice(0, 8)}`;
    const brokers = options.brokers ?? (process.env['KAFKA_BROKERS'] ?? '').split(',');
    const sasl = options.credentials && { mechanism: 'plain', ...options.credentials.superUser };
    const port = createKafkajsPort({ brokers, clientId: 'job-test', sasl }, silentLogger);
    await port.connect();
    const topics = Object.fromEntries(allTopics.map((name) => [name, `${applicationId}-${name}`])) as Record<keyof JobTopics, string>;
    const created = await port.admin.createTopics(
      topicsOf(options.variant ?? 'everything').map((name) => ({
        topic: topics[name],
        partitions: options.partitions ?? 3,
        replicationFactor: -1,
        configs: {},
      })),
    );
    for (const { topic, errorCode } of created) if (errorCode !== 0) throw new Error(`topic ${topic}: error ${errorCode}`);
    return new JobRun(applicationId, topics, port, await mkdtemp(join(tmpdir(), 'millrace-job-')), brokers, options);
  }

  /** An instance that is not started yet. `via` replaces the brokers' addresses. */
  instance(
    name = `instance ${this.instances.length}`,
    via: readonly string[] = this.brokers,
    config: Partial<StreamsConfig> = {},
    /** What this one is told besides. */
    more: object = {},
  ): JobProcess {
    const { applicationId, topics, folder, options } = this;
    const sasl = options.credentials && { sasl: { mechanism: 'plain', ...options.credentials.user } };
    const setup = {
      ...options.setup,
      ...more,
      topics,
      variant: options.variant ?? 'everything',
      bounded: options.bounded,
      config: {
        ...(options.variant === 'joins' && joinConfig),
        ...options.config,
        ...sasl,
        ...config,
        applicationId,
        bootstrapServers: via,
      },
    };
    const instance = new JobProcess(name, setup, { TMPDIR: folder, ...options.env }, options.file);
    this.instances.push(instance);
    return instance;
  }

  /** An instance behind proxies of its own, one for each broker; `proxy` is the first of them. */
  async proxied(
    name?: string,
    config: Partial<StreamsConfig> = {},
  ): Promise<{ readonly instance: JobProcess; readonly proxy: KafkaProxy; readonly proxies: readonly KafkaProxy[] }> {
    const proxies = await KafkaProxy.inFrontOf(this.brokers);
    this.proxies.push(...proxies);
    const via = proxies.map(({ bootstrapServer }) => bootstrapServer);
    return { instance: this.instance(name, via, config), proxy: proxies[0] as KafkaProxy, proxies };
  }

  /** Waits until the committed output has all that the input calls for, once that is written to its end. */
  async complete(deadlineMs = 60_000): Promise<void> {
    const waits = this.options.variant === 'joins';
    let [nudgeAt, pause] = [0, 1500];
    await until(
      'the output has everything',
      async () => {
        if (waits && Date.now() >= nudgeAt) {
          await this.input.nudge();
          nudgeAt = Date.now() + (pause *= 2);
          return false;
        }
        return this.output.isComplete();
      },
      deadlineMs,
      () => `${this.output.counts()}\n${this.story()}`,
    );
  }

  /** Waits until the committed output is complete, and gives what is wrong with it. */
  async differences(deadlineMs?: number): Promise<string[]> {
    await this.complete(deadlineMs);
    const faults = this.output.differences().slice(0, 10);
    if (faults.length > 0) faults.push(this.story());
    return faults;
  }

  /** The state folder of the instance that lives; there must be one only. */
  async liveFolder(): Promise<string> {
    const parent = join(this.folder, 'millrace', this.applicationId);
    const live: string[] = [];
    for (const slot of await readdir(parent)) {
      const lock = await tryLockDirectory(join(parent, slot));
      if (lock === null) live.push(join(parent, slot));
      else await lock.release();
    }
    if (live.length !== 1) throw new Error(`${live.length} live instances instead of one`);
    return live[0] as string;
  }

  story(): string {
    return this.instances.map((instance) => instance.story()).join('\n');
  }

  /** Ends everything at once and removes the folder. */
  async end(): Promise<void> {
    await this.input.stop().catch(() => undefined);
    await Promise.all(this.instances.map((instance) => instance.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.port.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}
