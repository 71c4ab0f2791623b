/**
 * The client port: everything the rest of Millrace asks of a Kafka cluster, one method a request.
 *
 * The port knows no streams. A method that reaches the broker resolves with what the broker said, error codes
 * included (`errorCode`, see `error-codes.ts`), because the state machines above decide what a code means. It rejects
 * with `KafkaTransportError` when the answer is not known (connection lost, timeout): the request may or may not
 * have been carried out. Retrying, coordinator look-up after NOT_COORDINATOR and metadata refresh belong to the callers,
 * except where a method says so.
 *
 * Drivers: `kafkajs/` (a real cluster). One `KafkaPort` belongs to one stream thread and has connections of its own: per broker one for
 * fetches, one for group requests, one for produce and transactions, so that a long poll or a parked JoinGroup never blocks
 * anything else.
 */
import type { StreamsGroupDescription, StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse } from './streams-groups.js';

export interface KafkaPort {
  /** Opens the connections and reads ApiVersions; rejects with MILL_BROKER_UNREACHABLE or MILL_BROKER_TOO_OLD. */
  connect(): Promise<void>;
  close(): Promise<void>;
  /** Highest supported version of a request on the cluster the port is connected to, or -1. */
  supports(apiKey: number): number;
  /** True when the cluster has finalised `transaction.version` ≥ 2 (KIP-890): no AddPartitionsToTxn, EndTxn bumps the epoch. */
  readonly transactionV2: boolean;
  /** True when the cluster has finalised `streams.version` ≥ 1: its brokers coordinate streams groups (KIP-1071). */
  readonly streamsGroups: boolean;

  metadata(topics: readonly string[] | 'all', options?: { readonly refresh?: boolean }): Promise<ClusterMetadata>;
  listOffsets(queries: readonly OffsetQuery[]): Promise<readonly OffsetAnswer[]>;
  /** Fetches to one broker that are under way at the same time do not wait for one another. */
  fetch(broker: number, request: FetchRequest): Promise<FetchResponse>;
  /** The records’ bytes must not change until the promise settles. */
  produce(broker: number, request: ProduceRequest): Promise<ProduceResponse>;

  /** Node id of the coordinator; retries while it is not available, until `signal` aborts. `refresh` forgets the remembered one. */
  findCoordinator(
    kind: CoordinatorKind,
    key: string,
    options?: { readonly refresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<number>;

  initProducerId(broker: number, request: InitProducerIdRequest): Promise<InitProducerIdResponse>;
  addPartitionsToTxn(broker: number, request: AddPartitionsToTxnRequest): Promise<readonly PartitionResult[]>;
  addOffsetsToTxn(broker: number, request: ProducerIdentity & { readonly groupId: string }): Promise<{ readonly errorCode: number }>;
  /** Sent to the group coordinator. */
  txnOffsetCommit(broker: number, request: TxnOffsetCommitRequest): Promise<readonly PartitionResult[]>;
  endTxn(broker: number, request: ProducerIdentity & { readonly commit: boolean }): Promise<EndTxnResponse>;
  /** Open transactions whose id starts with `prefix`, over all brokers (ListTransactions); null when the cluster lacks it or forbids it. */
  listOpenTransactions(prefix: string): Promise<readonly string[] | null>;

  joinGroup(broker: number, request: JoinGroupRequest): Promise<JoinGroupResponse>;
  syncGroup(broker: number, request: SyncGroupRequest): Promise<SyncGroupResponse>;
  heartbeat(broker: number, request: GroupMemberIdentity): Promise<{ readonly errorCode: number }>;
  leaveGroup(
    broker: number,
    request: { readonly groupId: string; readonly memberId: string; readonly groupInstanceId: string | null },
  ): Promise<{ readonly errorCode: number }>;
  streamsGroupHeartbeat(broker: number, request: StreamsGroupHeartbeatRequest): Promise<StreamsGroupHeartbeatResponse>;
  offsetFetch(broker: number, request: OffsetFetchRequest): Promise<OffsetFetchResponse>;
  offsetCommit(broker: number, request: OffsetCommitRequest): Promise<readonly PartitionResult[]>;

  readonly admin: KafkaAdmin;
}

export type CoordinatorKind = 'group' | 'transaction';

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export interface PartitionResult extends TopicPartition {
  readonly errorCode: number;
}

export interface ClusterMetadata {
  readonly clusterId: string | null;
  readonly controllerId: number;
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number; readonly rack: string | null }[];
  readonly topics: ReadonlyMap<string, TopicMetadata>;
}

export interface TopicMetadata {
  readonly name: string;
  /** UUID in Kafka's base64 form, or null when the broker's answer has none. */
  readonly topicId: string | null;
  readonly isInternal: boolean;
  /** 0, or why the topic is not described (3 = UNKNOWN_TOPIC_OR_PARTITION). */
  readonly errorCode: number;
  /** Index = partition. */
  readonly partitions: readonly PartitionMetadata[];
}

export interface PartitionMetadata {
  readonly partition: number;
  /** -1 while there is none. */
  readonly leader: number;
  readonly leaderEpoch: number;
  readonly errorCode: number;
}

export interface OffsetQuery extends TopicPartition {
  /** A number is a timestamp in ms: the first offset whose record is at or after it (-1 in the answer when there is none). */
  readonly at: 'earliest' | 'latest' | number;
  /** Default read_uncommitted: `latest` is the high watermark; read_committed: the last stable offset. */
  readonly isolation?: IsolationLevel;
}

export interface OffsetAnswer extends PartitionResult {
  readonly offset: number;
}

export type IsolationLevel = 'read_uncommitted' | 'read_committed';

export interface FetchRequest {
  readonly isolation: IsolationLevel;
  /** Milliseconds the broker may wait for `minBytes`. */
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly partitions: readonly FetchPartition[];
}

export interface FetchPartition extends TopicPartition {
  /**
   * Id of the topic that `offset` is a position in. The broker refuses a topic of the same name that has another id: 100 (UNKNOWN_TOPIC_ID) or 103
   * (INCONSISTENT_TOPIC_ID). Checked when each partition of the request has one and the broker knows Fetch v13 (Kafka 3.1).
   */
  readonly topicId?: string | null;
  readonly offset: number;
  readonly maxBytes: number;
}

export interface FetchResponse {
  /** Error of the whole response (fetch sessions are not used, so this is rare). */
  readonly errorCode: number;
  readonly throttleMs: number;
  readonly partitions: readonly FetchedPartition[];
}

export interface FetchedPartition extends PartitionResult {
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly logStartOffset: number;
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Record batches as the broker sent them: a view into the response, the last batch possibly cut. */
  readonly records: Buffer;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

export interface ProduceRequest {
  readonly transactionalId: string | null;
  readonly acks: -1 | 0 | 1;
  readonly timeoutMs: number;
  readonly partitions: readonly ProducePartition[];
}

export interface ProducePartition extends TopicPartition {
  /** One or more whole record batches, headers filled in. Written as they are. */
  readonly records: readonly Uint8Array[];
}

export interface ProduceResponse {
  readonly throttleMs: number;
  readonly partitions: readonly ProducedPartition[];
}

export interface ProducedPartition extends PartitionResult {
  readonly baseOffset: number;
  /** -1 unless the topic stamps records itself (LogAppendTime). */
  readonly logAppendTime: number;
  readonly errorMessage: string | null;
}

export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

export interface InitProducerIdRequest {
  /** null: idempotent only. */
  readonly transactionalId: string | null;
  readonly transactionTimeoutMs: number;
  /** Given when an epoch is bumped by its owner (KIP-360); absent for a fresh start, which fences every earlier owner. */
  readonly current?: { readonly producerId: bigint; readonly producerEpoch: number };
}

export interface InitProducerIdResponse {
  readonly errorCode: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

export interface AddPartitionsToTxnRequest extends ProducerIdentity {
  readonly partitions: readonly TopicPartition[];
}

export interface EndTxnResponse {
  readonly errorCode: number;
  /** Set under transaction.version 2: the identity for the next transaction. */
  readonly next: { readonly producerId: bigint; readonly producerEpoch: number } | null;
}

export interface GroupMemberIdentity {
  readonly groupId: string;
  readonly memberId: string;
  readonly generation: number;
  readonly groupInstanceId: string | null;
}

export interface TxnOffsetCommitRequest extends ProducerIdentity, GroupMemberIdentity {
  readonly offsets: readonly CommittedOffset[];
}

export interface OffsetCommitRequest extends GroupMemberIdentity {
  readonly offsets: readonly CommittedOffset[];
}

export interface CommittedOffset extends TopicPartition {
  /** -1: nothing committed. */
  readonly offset: number;
  readonly leaderEpoch: number;
  readonly metadata: string | null;
}

export interface OffsetFetchRequest {
  readonly groupId: string;
  /** null: every partition the group has committed. */
  readonly partitions: readonly TopicPartition[] | null;
  /** Answer 88 (UNSTABLE_OFFSET_COMMIT) for partitions with offsets pending in a transaction instead of the older offset. */
  readonly requireStable: boolean;
}

export interface OffsetFetchResponse {
  readonly errorCode: number;
  readonly offsets: readonly (CommittedOffset & { readonly errorCode: number })[];
}

export interface JoinGroupRequest {
  readonly groupId: string;
  /** Empty for a member that has none yet; 79 (MEMBER_ID_REQUIRED) then answers with one. */
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly sessionTimeoutMs: number;
  readonly rebalanceTimeoutMs: number;
  readonly protocolType: string;
  readonly protocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

export interface JoinGroupResponse {
  readonly errorCode: number;
  readonly generation: number;
  readonly protocolName: string | null;
  readonly leader: string;
  readonly memberId: string;
  /** Filled for the leader only. */
  readonly members: readonly { readonly memberId: string; readonly groupInstanceId: string | null; readonly metadata: Buffer }[];
}

export interface SyncGroupRequest extends GroupMemberIdentity {
  readonly protocolType: string;
  readonly protocolName: string;
  /** Filled by the leader only. */
  readonly assignments: readonly { readonly memberId: string; readonly assignment: Buffer }[];
}

export interface SyncGroupResponse {
  readonly errorCode: number;
  readonly assignment: Buffer;
}

export interface KafkaAdmin {
  /** Creates topics and waits until every partition has a leader. 36 (TOPIC_ALREADY_EXISTS) is not an error of the call but told per topic. */
  createTopics(
    topics: readonly NewTopic[],
  ): Promise<readonly { readonly topic: string; readonly errorCode: number; readonly errorMessage: string | null }[]>;
  deleteTopics(topics: readonly string[]): Promise<void>;
  describeTopicConfigs(topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string | null>>>;
  deleteRecords(before: readonly (TopicPartition & { readonly offset: number })[]): Promise<void>;
  /** State and members of a group, or null when the broker does not know it. */
  describeGroup(groupId: string): Promise<{
    readonly state: string;
    readonly members: readonly { readonly memberId: string; readonly metadata: Buffer; readonly assignment: Buffer }[];
  } | null>;
  /** A streams group, or null when there is none of the name: no group at all, or one of another kind. */
  describeStreamsGroup(groupId: string): Promise<StreamsGroupDescription | null>;
  deleteGroups(groupIds: readonly string[]): Promise<void>;
}

export interface NewTopic {
  readonly topic: string;
  readonly partitions: number;
  /** -1: the broker's default. */
  readonly replicationFactor: number;
  readonly configs: Readonly<Record<string, string>>;
}

/** How to reach a cluster: what the kafkajs driver takes. Secrets in here are never logged. */
export interface ConnectionConfig {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: boolean | object;
  readonly sasl?: object;
  /** Milliseconds; default 10 000. */
  readonly connectionTimeoutMs?: number;
  /** Milliseconds; default 30 000. */
  readonly requestTimeoutMs?: number;
}
