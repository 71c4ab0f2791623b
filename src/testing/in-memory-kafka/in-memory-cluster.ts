/**
 * The brokers: topics, the two coordinators and the requests between them. Time and randomness come in, so the same requests at the same times give the same
 * cluster. Called by the ports, through their network.
 */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type {
  ClusterMetadata,
  CommittedOffset,
  CoordinatorKind,
  FetchRequest,
  FetchResponse,
  OffsetAnswer,
  OffsetCommitRequest,
  OffsetFetchRequest,
  OffsetFetchResponse,
  OffsetQuery,
  PartitionResult,
  ProducedPartition,
  ProducePartition,
  ProduceRequest,
  ProduceResponse,
  TopicMetadata,
  TopicPartition,
  TxnOffsetCommitRequest,
} from '../../kafka/port.js';
import { GroupCoordinator } from './group-coordinator.js';
import { readProduced } from './log-batch.js';
import type { Random } from './random.js';
import type { SimulationClock } from './simulation-clock.js';
import { Topics } from './topics.js';
import { TransactionCoordinator } from './transaction-coordinator.js';
import { WaitingFetches, type ServedLog } from './waiting-fetches.js';

export interface ClusterOptions {
  readonly clock: SimulationClock;
  readonly random: Random;
  readonly brokers: number;
  readonly transactionV2: boolean;
  readonly streamsGroups: boolean;
  readonly initialRebalanceDelayMs: number;
  readonly groupSettings: Readonly<Record<string, string>>;
  readonly topicDelayMs: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly maxTransactionTimeoutMs: number;
  readonly markerDelayMs: readonly [number, number];
}

const OFFSET_METADATA_TOO_LARGE = 12;
const maxMetadataBytes = 4096;

export class InMemoryCluster {
  readonly clusterId: string;
  readonly topics: Topics;
  readonly groups: GroupCoordinator;
  readonly transactions: TransactionCoordinator;
  readonly brokerIds: readonly number[];
  private readonly fetches: WaitingFetches;
  private readonly down = new Set<number>();
  private readonly topicHashes = new Map<string, number>();

  constructor(readonly options: ClusterOptions) {
    const { clock, random } = options;
    this.clusterId = base64Id(random);
    this.brokerIds = Array.from({ length: options.brokers }, (_, index) => index + 1);
    this.fetches = new WaitingFetches(clock);
    this.topics = new Topics(
      options.brokers,
      () => ({ topicId: base64Id(random), knownFrom: clock.now() + options.topicDelayMs }),
      (partition) => this.fetches.changed(partition),
    );
    this.groups = new GroupCoordinator({
      ...options,
      newMemberId: (clientId) => `${clientId}-${random.uuid()}`,
      partitionsOf: (name) => {
        const topic = this.topics.get(name);
        return topic === undefined || clock.now() < topic.knownFrom ? 0 : topic.logs.length;
      },
      createTopics: (topics) => {
        for (const { name, partitions, configs } of topics) this.topics.create({ topic: name, partitions, replicationFactor: -1, configs });
      },
    });
    this.transactions = new TransactionCoordinator(
      {
        exists: (partition) => this.topics.log(partition) !== undefined,
        markPartition: (partition, producerId, epoch, commit) =>
          this.topics.log(partition)?.appendMarker(producerId, epoch, commit, Math.floor(clock.now())),
        markGroup: (groupId, producerId, commit) => this.groups.offsets.end(groupId, producerId, commit),
      },
      { ...options, markerDelayMs: () => random.between(options.markerDelayMs) },
    );
  }

  // Brokers

  isUp(broker: number): boolean {
    return broker >= 1 && broker <= this.options.brokers && !this.down.has(broker);
  }

  /** Parked requests are gone; logs, offsets, members and transactions are kept, as a broker keeps them on disk. */
  stopBroker(broker: number): void {
    if (!this.isUp(broker)) return;
    this.down.add(broker);
    this.fetches.clear(broker);
    this.groups.reload((groupId) => this.coordinatorOf('group', groupId) === broker);
  }

  startBroker(broker: number): void {
    this.down.delete(broker);
  }

  coordinatorOf(kind: CoordinatorKind, key: string): number {
    return (hash(`${kind} ${key}`) % this.options.brokers) + 1;
  }

  leaderOf({ topic, partition }: TopicPartition): number {
    let first = this.topicHashes.get(topic);
    if (first === undefined) this.topicHashes.set(topic, (first = hash(topic)));
    return ((first + partition) % this.options.brokers) + 1;
  }

  // Records

  metadata(names: readonly string[] | 'all'): ClusterMetadata {
    const wanted = names === 'all' ? this.topics.all.map(({ name }) => name) : names;
    const up = this.brokerIds.filter((broker) => this.isUp(broker));
    return {
      clusterId: this.clusterId,
      controllerId: up[0] ?? 1,
      brokers: up.map((nodeId) => ({ nodeId, host: 'memory', port: 9091 + nodeId, rack: null })),
      topics: new Map(wanted.map((name) => [name, this.describe(name)])),
    };
  }

  private describe(name: string): TopicMetadata {
    const topic = this.topics.get(name);
    if (topic === undefined) return { name, topicId: null, isInternal: false, errorCode: E.UNKNOWN_TOPIC_OR_PARTITION, partitions: [] };
    const partitions = topic.logs.map((log) => {
      const leader = this.leaderOf(log);
      const isLed = this.isUp(leader);
      return {
        partition: log.partition,
        leader: isLed ? leader : -1,
        leaderEpoch: 0,
        errorCode: isLed ? E.NONE : E.LEADER_NOT_AVAILABLE,
      };
    });
    return { name, topicId: topic.topicId, isInternal: false, errorCode: E.NONE, partitions };
  }

  produce(broker: number, request: ProduceRequest, v2: boolean): ProduceResponse {
    return { throttleMs: 0, partitions: request.partitions.map((partition) => this.append(broker, request, partition, v2)) };
  }

  private append(broker: number, request: ProduceRequest, to: ProducePartition, v2: boolean): ProducedPartition {
    const { topic, partition } = to;
    const fail = (errorCode: number): ProducedPartition => ({
      topic,
      partition,
      errorCode,
      baseOffset: -1,
      logAppendTime: -1,
      errorMessage: null,
    });
    const log = this.served(broker, to);
    if (typeof log === 'number') return fail(log);
    const batch = readProduced(to.records);
    if (typeof batch === 'number') return fail(batch);
    const configs = this.topics.get(topic)?.configs;
    if (batch.bytes.length > Number(configs?.get('max.message.bytes'))) return fail(E.MESSAGE_TOO_LARGE);
    if (batch.isTransactional && !log.producers.hasOpenTransaction(batch.producerId, batch.producerEpoch)) {
      const { producerId, producerEpoch } = batch;
      const identity = { transactionalId: request.transactionalId ?? '', producerId, producerEpoch };
      const errorCode = v2
        ? (this.transactions.addPartitions(identity, [{ topic, partition }])[0]?.errorCode ?? E.NONE)
        : this.transactions.verifyPartition(identity, to);
      if (errorCode !== E.NONE) return fail(produceError(errorCode, v2));
    }
    const stamp = configs?.get('message.timestamp.type') === 'LogAppendTime' ? Math.floor(this.options.clock.now()) : null;
    return { topic, partition, ...log.append(batch, stamp), errorMessage: null };
  }

  fetch(broker: number, request: FetchRequest, reply: (answer: FetchResponse) => void): void {
    this.fetches.fetch(broker, request, (partition) => this.served(broker, partition), reply);
  }

  listOffsets(queries: readonly OffsetQuery[]): readonly OffsetAnswer[] {
    return queries.map(({ topic, partition, at, isolation = 'read_uncommitted' }) => {
      const log = this.topics.log({ topic, partition });
      if (log === undefined) return { topic, partition, errorCode: E.UNKNOWN_TOPIC_OR_PARTITION, offset: -1 };
      if (!this.isUp(this.leaderOf(log))) return { topic, partition, errorCode: E.LEADER_NOT_AVAILABLE, offset: -1 };
      const offset = at === 'earliest' ? log.logStartOffset : at === 'latest' ? log.end(isolation) : log.offsetAt(at, isolation);
      return { topic, partition, errorCode: E.NONE, offset };
    });
  }

  private served(broker: number, partition: TopicPartition & { readonly topicId?: string | null }): ServedLog {
    const { topicId } = partition;
    const topic = this.topics.get(partition.topic);
    if (topicId !== undefined && topicId !== null && topic?.topicId !== topicId) return E.UNKNOWN_TOPIC_ID;
    const log = topic?.logs[partition.partition];
    if (log === undefined) return E.UNKNOWN_TOPIC_OR_PARTITION;
    return this.leaderOf(partition) === broker ? log : E.NOT_LEADER_OR_FOLLOWER;
  }

  // Offsets

  txnOffsetCommit(request: TxnOffsetCommitRequest, v2: boolean): readonly PartitionResult[] {
    const inTransaction = v2
      ? this.transactions.addGroup(request, request.groupId)
      : this.transactions.verifyGroup(request, request.groupId);
    const errorCode = inTransaction === E.NONE ? this.groups.checkCommit(request, request.offsets, true) : produceError(inTransaction, v2);
    return this.commit(request.offsets, errorCode, (taken) => this.groups.offsets.addPending(request.groupId, request.producerId, taken));
  }

  offsetCommit(request: OffsetCommitRequest): readonly PartitionResult[] {
    const errorCode = this.groups.checkCommit(request, request.offsets, false);
    return this.commit(request.offsets, errorCode, (taken) => this.groups.offsets.commit(request.groupId, taken));
  }

  offsetFetch({ groupId, partitions, requireStable }: OffsetFetchRequest): OffsetFetchResponse {
    return this.groups.offsets.fetch(groupId, partitions, requireStable);
  }

  private commit(
    offsets: readonly CommittedOffset[],
    groupError: number,
    take: (taken: readonly CommittedOffset[]) => void,
  ): readonly PartitionResult[] {
    const results = offsets.map(({ topic, partition, metadata }) => {
      if (this.topics.log({ topic, partition }) === undefined) return { topic, partition, errorCode: E.UNKNOWN_TOPIC_OR_PARTITION };
      const isTooLong = Buffer.byteLength(metadata ?? '') > maxMetadataBytes;
      return { topic, partition, errorCode: groupError !== E.NONE || !isTooLong ? groupError : OFFSET_METADATA_TOO_LARGE };
    });
    take(offsets.filter((_, index) => results[index]?.errorCode === E.NONE));
    return results;
  }
}

/** What a client is told of the transaction coordinator's verdict on a write: it knows a fenced producer by its epoch, and older ones retry only what they know. */
function produceError(errorCode: number, v2: boolean): number {
  const NOT_ENOUGH_REPLICAS = 19;
  if (errorCode === E.PRODUCER_FENCED) return E.INVALID_PRODUCER_EPOCH;
  return errorCode === E.CONCURRENT_TRANSACTIONS && !v2 ? NOT_ENOUGH_REPLICAS : errorCode;
}

/** A UUID in Kafka's base64 form. */
function base64Id(random: Random): string {
  return Buffer.from(Array.from({ length: 16 }, () => random.int(0, 255))).toString('base64url');
}

function hash(text: string): number {
  let value = 17;
  for (let i = 0; i < text.length; i++) value = (Math.imul(value, 31) + text.charCodeAt(i)) >>> 0;
  return value;
}
