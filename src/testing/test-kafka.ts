/**
 * `inMemoryKafka()` for users: a Kafka cluster inside the test's process, with as many app instances as the test wants.
 *
 * Unlike the topology test driver this runs whole apps: group membership, rebalances, transactions, standbys. So things take time, and a test waits for
 * what it expects (`until`).
 */
import { randomUUID } from 'node:crypto';
import { StreamsApp } from '../app/streams-app.js';
import { resolvedProtocol } from '../app/brokers-options.js';
import type { StreamsConfig } from '../app/config.js';
import { MillraceError } from '../errors.js';
import { anyObject, atLeastOne, milliseconds, requireArgument, requireOptions, text, type ShapeOf } from '../errors/checked-options.js';
import { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import type { Topology } from '../topology/nodes.js';
import { nameFault } from '../topology/resource-name.js';
import { InMemoryDirectory } from './in-memory-kafka/in-memory-directory.js';
import { inMemoryKafka as inMemoryCluster, type InMemoryKafka } from './in-memory-kafka/in-memory-kafka.js';
import { OrderedTopic } from './ordered-topic.js';
import { TestInputTopic } from './test-input-topic.js';
import { TestOutputTopic } from './test-output-topic.js';
import { checkTopicSerdes, type TopicSerdes } from './topic-serdes.js';

/** Options of `inMemoryKafka`. */
export interface TestKafkaOptions {
  /** Default 1. Partitions are spread over the brokers. */
  readonly brokers?: number;
}

/**
 * Options of an instance: those of an app, without brokers. Timings are short by default: a rebalance is noticed within 50 ms (`heartbeatInterval`), a killed instance after
 * 3 s (`sessionTimeout`). With `groupProtocol: 'streams'` these are settings of the group (`alterGroup`).
 */
export type InstanceConfig = Omit<StreamsConfig, 'bootstrapServers' | 'stateDir' | 'ssl' | 'sasl'> & {
  /**
   * Name of the instance. One that is started under the name of an instance that ended is the same one, restarted: it has its identity. Default: a new one. State is in memory, so a
   * restart reads its changelogs.
   */
  readonly instance?: string;
};

const kafkaShape = { brokers: atLeastOne } satisfies ShapeOf<TestKafkaOptions>;

/** A cluster without a broker. @throws MILL_CONFIG_INVALID for an option that there is not */
export function inMemoryKafka(options: TestKafkaOptions = {}): TestKafka {
  requireOptions('inMemoryKafka', options, kafkaShape, 'MILL_CONFIG_INVALID');
  return new TestKafka(options);
}

/** Milliseconds. */
const classicTimes = { heartbeatInterval: 50, sessionTimeout: 3000 };
/** The same for streams groups, which have theirs from the cluster. */
const groupSettings = { 'streams.heartbeat.interval.ms': '50', 'streams.session.timeout.ms': '3000' };
const lookEvery = 5;
const maxBatchBytes = 1_048_588;

/**
 * A Kafka cluster in memory, made by `inMemoryKafka`.
 *
 * @example
 * const kafka = inMemoryKafka();
 * kafka.createTopic('words', 4);
 * kafka.createTopic('counts', 4);
 * const [a, b] = [kafka.app(topology, { applicationId: 'word-count' }), kafka.app(topology, { applicationId: 'word-count' })];
 * await Promise.all([a.start(), b.start()]);
 */
export class TestKafka {
  private readonly cluster: InMemoryKafka;
  private readonly directories = new Map<string, InMemoryDirectory>();
  private readonly clients = new Map<StreamsApp, string[]>();

  /** @internal */
  constructor({ brokers = 1 }: TestKafkaOptions) {
    this.cluster = inMemoryCluster({ brokers, minSessionTimeoutMs: 1, groupSettings });
  }

  /** Names of all topics, those that apps made for themselves included. */
  get topics(): readonly string[] {
    return this.cluster.topics;
  }

  /** Default: one partition. @throws MILL_CONFIG_INVALID */
  createTopic(name: string, partitions = 1): void {
    requireArgument('createTopic: the name', name, text, 'MILL_CONFIG_INVALID');
    requireArgument('createTopic: the partitions', partitions, atLeastOne, 'MILL_CONFIG_INVALID');
    const fault = nameFault(name) ?? (this.cluster.topics.includes(name) ? 'is taken: there is such a topic' : null);
    if (fault !== null) throw new MillraceError('MILL_CONFIG_INVALID', `createTopic: the name "${name}" ${fault}.`, { details: { name } });
    this.cluster.createTopic(name, partitions);
  }

  /**
   * An instance of an app on this cluster, not started yet. The topology may be shared by all of them.
   *
   * @throws MILL_CONFIG_INVALID
   */
  app(topology: Topology, config: InstanceConfig): StreamsApp {
    const { instance = randomUUID(), ...rest } = config;
    requireArgument('app: the option instance', instance, text, 'MILL_CONFIG_INVALID');
    const asGiven = { bootstrapServers: 'in-memory:9092', ...rest };
    const clients: string[] = [];
    const app: StreamsApp = new StreamsApp(
      topology,
      { ...(resolvedProtocol(asGiven) === 'classic' && classicTimes), ...asGiven },
      {
        openPort: ({ clientId }) => {
          const client = `${clientId}@${randomUUID()}`;
          clients.push(client);
          return this.cluster.port({ clientId: client });
        },
        openDirectory: async () => this.directory(instance),
      },
    );
    this.clients.set(app, clients);
    return app;
  }

  /**
   * Changes settings of the streams group of an application (`groupProtocol: 'streams'`), as `kafka-configs.sh --entity-type groups` does on a broker: `streams.num.standby.replicas`
   * (default 0), `streams.session.timeout.ms` (3000), `streams.heartbeat.interval.ms` (50), `streams.initial.rebalance.delay.ms` (0), `streams.assignment.interval.ms` (0).
   *
   * @throws MILL_CONFIG_INVALID for any other setting, or a value that is no whole number
   */
  alterGroup(applicationId: string, settings: Readonly<Record<string, string>>): void {
    requireArgument('alterGroup: the applicationId', applicationId, text, 'MILL_CONFIG_INVALID');
    requireArgument('alterGroup: the settings', settings, anyObject, 'MILL_CONFIG_INVALID');
    try {
      this.cluster.alterGroup(applicationId, settings);
    } catch (cause) {
      throw new MillraceError('MILL_CONFIG_INVALID', `alterGroup: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }

  /** Ends an instance as `kill -9` does: nothing more of it reaches the cluster, and nobody is told. Others notice when its session ends. */
  async kill(app: StreamsApp): Promise<void> {
    for (const client of this.clients.get(app) ?? []) this.cluster.cut(client, true);
    await app.close({ timeout: 0 }).catch(() => undefined);
  }

  /** To write into a topic. @throws MILL_TOPIC_MISSING when there is none; MILL_CONFIG_INVALID without both serdes */
  inputTopic<K, V>(name: string, serdes: TopicSerdes<K, V>): TestInputTopic<K, V> {
    const partitions = this.partitions(name);
    checkTopicSerdes('inputTopic', name, serdes);
    const builders = Array.from({ length: partitions }, () => new RecordBatchBuilder({ maxBatchBytes }));
    return new TestInputTopic(name, serdes.keySerde, serdes.valueSerde, {
      partitions: () => partitions,
      builder: (_, partition) => builders[partition] as RecordBatchBuilder,
      wallClock: Date.now,
      process: async (append) => {
        append();
        builders.forEach((builder, partition) => this.cluster.append(name, partition, builder));
      },
    });
  }

  /**
   * To read the committed records of a topic, in the order in which they were committed as far as a look tells.
   *
   * @throws MILL_TOPIC_MISSING when there is none; MILL_CONFIG_INVALID without both serdes
   */
  outputTopic<K, V>(name: string, serdes: TopicSerdes<K, V>): TestOutputTopic<K, V> {
    this.partitions(name);
    checkTopicSerdes('outputTopic', name, serdes);
    return new TestOutputTopic(name, serdes.keySerde, serdes.valueSerde, new OrderedTopic(this.cluster));
  }

  /**
   * Resolves when the condition holds; looks every few milliseconds.
   *
   * @throws Error after `timeout` ms, default 10 000
   */
  async until(condition: () => boolean | Promise<boolean>, timeout = 10_000): Promise<void> {
    requireArgument('until: the timeout', timeout, milliseconds, 'MILL_CONFIG_INVALID');
    const deadline = Date.now() + timeout;
    while (!(await condition())) {
      if (Date.now() > deadline) throw new Error(`what was waited for did not happen within ${timeout} ms`);
      await new Promise((resolve) => setTimeout(resolve, lookEvery));
    }
  }

  /** Takes a broker down; what it has stays. Brokers are numbered from 1. */
  stopBroker(broker = 1): void {
    this.cluster.stopBroker(broker);
  }

  /** Brings it up again. */
  startBroker(broker = 1): void {
    this.cluster.startBroker(broker);
  }

  private partitions(topic: string): number {
    const partitions = this.cluster.partitions(topic);
    if (partitions === 0) throw new MillraceError('MILL_TOPIC_MISSING', `There is no topic ${topic}: make it with createTopic.`);
    return partitions;
  }

  /** Errors: MILL_STORE_DIRECTORY_LOCKED. */
  private directory(instance: string): InMemoryDirectory {
    const directory = this.directories.get(instance) ?? new InMemoryDirectory(instance);
    this.directories.set(instance, directory);
    return directory.acquire();
  }
}
