/**
 * A Kafka cluster inside the process, for tests with several app instances and no broker: `inMemoryKafka()`.
 *
 * It implements the client port, not the wire protocol, and is held to a real broker by one port test suite that runs against both. With a clock and a
 * seed of the test's own it is deterministic.
 */
import type { CommittedOffset, IsolationLevel, KafkaPort, NewTopic } from '../../kafka/port.js';
import { BatchMemory } from '../../kafka/record-batch/batch-memory.js';
import { RecordBatchBuilder } from '../../kafka/record-batch/record-batch-builder.js';
import { partitionForKey } from '../../bytes/murmur2.js';
import { ClientNetwork, type NetworkFaults } from './client-network.js';
import { InMemoryCluster } from './in-memory-cluster.js';
import { InMemoryPort } from './in-memory-port.js';
import { readProduced } from './log-batch.js';
import { Random } from './random.js';
import { realClock, type SimulationClock } from './simulation-clock.js';
import { recordsOf, type LoggedRecord } from './logged-records.js';

export interface InMemoryKafkaOptions {
  /** Default 1. */
  readonly seed?: number;
  /** Default: the machine's. */
  readonly clock?: SimulationClock;
  /** Default 1. */
  readonly brokers?: number;
  /** false: a cluster before Kafka 4.0, without KIP-890. Default true. */
  readonly transactionV2?: boolean;
  /** false: a cluster before Kafka 4.2, without streams groups (KIP-1071). Default true. */
  readonly streamsGroups?: boolean;
  /** How long an empty group waits for further members, ms. Default 0; brokers have 3000. */
  readonly initialRebalanceDelayMs?: number;
  /** Settings of every streams group, as `alterGroup` has them. */
  readonly groupSettings?: Readonly<Record<string, string>>;
  /** How much later than clients the coordinator of streams groups hears of a new topic, ms. Default 0. */
  readonly topicDelayMs?: number;
  /** Default 6000 ms, as brokers have. */
  readonly minSessionTimeoutMs?: number;
  /** Milliseconds from the end of a transaction until each of its partitions has the marker. Default: none. */
  readonly markerDelayMs?: readonly [number, number];
}

export interface InMemoryPortSettings {
  /** Default `in-memory`. */
  readonly clientId?: string;
  /** What the network does to this port's requests. Default: nothing. A function is asked for each request. */
  readonly faults?: NetworkFaults | (() => NetworkFaults);
  /** Of the process that uses the port; default: the cluster's. */
  readonly clock?: SimulationClock;
  /** false: the older transaction protocol on a cluster that has both. Default: what the cluster has. */
  readonly transactionV2?: boolean;
}

/** What `produce` takes. */
export interface InputRecord {
  readonly key?: Uint8Array | string | null;
  readonly value?: Uint8Array | string | null;
  /** Milliseconds; default: the clock. */
  readonly timestamp?: number;
  /** Default: by the key, as Java's producer does; without a key 0. */
  readonly partition?: number;
}

export function inMemoryKafka(options: InMemoryKafkaOptions = {}): InMemoryKafka {
  return new InMemoryKafka(options);
}

export class InMemoryKafka {
  private readonly cluster: InMemoryCluster;
  private readonly clock: SimulationClock;
  private readonly random: Random;
  /** For the batches that `produce` builds. */
  private readonly memory = new BatchMemory(1024 * 1024);
  private readonly networks: { readonly clientId: string; readonly network: ClientNetwork }[] = [];

  constructor(private readonly options: InMemoryKafkaOptions) {
    this.clock = options.clock ?? realClock;
    this.random = new Random(options.seed ?? 1);
    this.cluster = new InMemoryCluster({
      clock: this.clock,
      random: this.random.fork(),
      brokers: options.brokers ?? 1,
      transactionV2: options.transactionV2 ?? true,
      streamsGroups: options.streamsGroups ?? true,
      initialRebalanceDelayMs: options.initialRebalanceDelayMs ?? 0,
      groupSettings: options.groupSettings ?? {},
      topicDelayMs: options.topicDelayMs ?? 0,
      minSessionTimeoutMs: options.minSessionTimeoutMs ?? 6000,
      maxSessionTimeoutMs: 1_800_000,
      maxTransactionTimeoutMs: 900_000,
      markerDelayMs: options.markerDelayMs ?? [0, 0],
    });
  }

  /** A client's connections to this cluster. */
  port(settings: InMemoryPortSettings = {}): KafkaPort {
    const { clientId = 'in-memory', clock = this.clock, faults = {} } = settings;
    const network = new ClientNetwork({
      client: clock,
      server: this.clock,
      random: this.random.fork(),
      isUp: (broker) => this.cluster.isUp(broker),
      faults: typeof faults === 'function' ? faults : () => faults,
    });
    this.networks.push({ clientId, network });
    const transactionV2 = this.cluster.options.transactionV2 && (settings.transactionV2 ?? true);
    return new InMemoryPort({ cluster: this.cluster, network, clientId, clock, random: this.random.fork(), transactionV2 });
  }

  // What happens to the cluster

  /** Breaks the connections of a client, or of all. With `stayAway` no new ones can be made until `heal`. */
  cut(clientId?: string, stayAway = false): void {
    for (const one of this.networks) if (clientId === undefined || one.clientId === clientId) one.network.cut(stayAway);
  }

  heal(clientId?: string): void {
    for (const one of this.networks) if (clientId === undefined || one.clientId === clientId) one.network.heal();
  }

  /** Nothing is lost but what was under way. */
  stopBroker(broker = 1): void {
    this.cluster.stopBroker(broker);
    for (const { network } of this.networks) network.cut(false, broker);
  }

  startBroker(broker = 1): void {
    this.cluster.startBroker(broker);
  }

  /** Compacts the topic's logs now, as the log cleaner would some day. */
  compact(topic: string, options: { readonly dropTombstones: boolean } = { dropTombstones: false }): void {
    for (const log of this.cluster.topics.get(topic)?.logs ?? []) log.compact(options);
  }

  /**
   * Settings of one streams group, as `kafka-configs.sh --entity-type groups` makes them: `streams.num.standby.replicas` (default 0), `streams.session.timeout.ms` (45000),
   * `streams.heartbeat.interval.ms` (5000), `streams.initial.rebalance.delay.ms` (`initialRebalanceDelayMs`) and `streams.assignment.interval.ms` (0; brokers have 1000).
   *
   * @throws TypeError for any other setting
   */
  alterGroup(groupId: string, settings: Readonly<Record<string, string>>): void {
    this.cluster.groups.alter(groupId, settings);
  }

  // Without a port

  createTopic(topic: string, partitions = 1, configs: NewTopic['configs'] = {}): void {
    const { errorCode, errorMessage } = this.cluster.topics.create({ topic, partitions, replicationFactor: -1, configs });
    if (errorCode !== 0) throw new TypeError(errorMessage ?? `topic ${topic}: error ${errorCode}`);
  }

  /** Appends records outside of transactions, a batch each. */
  produce(topic: string, records: readonly InputRecord[]): void {
    const logs = this.cluster.topics.get(topic)?.logs ?? [];
    for (const record of records) {
      const [key, value] = [bytesOf(record.key), bytesOf(record.value)];
      const log = logs[record.partition ?? (key === null ? 0 : partitionForKey(key, 0, key.length, logs.length))];
      if (log === undefined) throw new TypeError(`topic ${topic} has no such partition`);
      const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000_012, memory: this.memory });
      builder.appendRaw(record.timestamp ?? Math.floor(this.clock.now()), key, 0, key?.length ?? 0, value, 0, value?.length ?? 0, null);
      this.append(topic, log.partition, builder);
    }
  }

  /** Appends what was built, outside of transactions. */
  append(topic: string, partition: number, builder: RecordBatchBuilder): void {
    const taken = builder.take();
    if (taken === null) return;
    taken.stamp(null, -1);
    const batch = readProduced(taken.batches.map(({ buffer }) => buffer));
    builder.recycle(taken);
    if (typeof batch === 'number') throw new TypeError(`a record for ${topic} can't be written: error ${batch}`);
    this.cluster.topics.get(topic)?.logs[partition]?.append(batch, null);
  }

  /** 0 for a topic that is not there. */
  partitions(topic: string): number {
    return this.cluster.topics.get(topic)?.logs.length ?? 0;
  }

  /** The topic's records that a reader of that isolation sees, partition after partition. */
  records(topic: string, isolation: IsolationLevel = 'read_committed'): LoggedRecord[] {
    return (this.cluster.topics.get(topic)?.logs ?? []).flatMap((log) => recordsOf(log, isolation));
  }

  /** State, generation (of a streams group: epoch) and member ids; null when there is no such group. */
  group(groupId: string): { readonly state: string; readonly generation: number; readonly members: readonly string[] } | null {
    return this.cluster.groups.summary(groupId);
  }

  committedOffsets(groupId: string): readonly CommittedOffset[] {
    return this.cluster.groups.offsets.all(groupId);
  }

  /** Transactional ids with a transaction that is open or being ended. */
  get openTransactions(): readonly string[] {
    return this.cluster.transactions.open;
  }

  get topics(): readonly string[] {
    return this.cluster.topics.all.map(({ name }) => name);
  }
}

function bytesOf(value: Uint8Array | string | null | undefined): Buffer | null {
  return value === null || value === undefined ? null : Buffer.from(value as string);
}
