/**
 * The `KafkaPort` of a real cluster, over kafkajs connections: picks lane, version and timeout of each request and hands the answer through.
 *
 * It keeps no state of groups or transactions; error codes in answers are the callers' business. See ARCHITECTURE.md for the lanes.
 */
import { KafkaTransportError, MillraceError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import type * as port from '../port.js';
import type { StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse } from '../streams-groups.js';
import { addOffsetsToTxn } from '../protocol/add-offsets-to-txn.js';
import { addPartitionsToTxn } from '../protocol/add-partitions-to-txn.js';
import { commonVersion, type Api, type BrokerVersions } from '../protocol/api.js';
import { END_TXN_BUMPS_EPOCH, endTxn } from '../protocol/end-txn.js';
import { fetch, FETCH_BY_TOPIC_ID } from '../protocol/fetch.js';
import { heartbeat } from '../protocol/heartbeat.js';
import { initProducerId } from '../protocol/init-producer-id.js';
import { joinGroup } from '../protocol/join-group.js';
import { leaveGroup } from '../protocol/leave-group.js';
import { offsetCommit } from '../protocol/offset-commit.js';
import { offsetFetch } from '../protocol/offset-fetch.js';
import { PRODUCE_IMPLICIT_TRANSACTION, produce } from '../protocol/produce.js';
import { streamsGroupDescribe } from '../protocol/streams-group-describe.js';
import { streamsGroupHeartbeat } from '../protocol/streams-group-heartbeat.js';
import { syncGroup } from '../protocol/sync-group.js';
import { TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION, txnOffsetCommit } from '../protocol/txn-offset-commit.js';
import type { SendOptions } from './broker-connection.js';
import { ClusterConnections } from './cluster-connections.js';
import { Coordinators } from './coordinators.js';
import { KafkajsAdmin } from './kafkajs-admin.js';
import { listOffsetsOfLeaders } from './leader-offsets.js';
import { listOpenTransactions } from './open-transactions.js';

export interface KafkajsPortOptions {
  /** false: the transaction protocol of brokers before 4.0, even when the cluster has the newer one. Default true. */
  readonly transactionV2?: boolean;
}

/**
 * A port to the cluster at `config.brokers`. Nothing is opened before `connect()`.
 * Throws MILL_CONFIG_INVALID for an address that is not host:port.
 */
export function createKafkajsPort(config: port.ConnectionConfig, logger: Logger, options: KafkajsPortOptions = {}): port.KafkaPort {
  return new KafkajsPort(config, logger, options);
}

class KafkajsPort implements port.KafkaPort {
  readonly admin: port.KafkaAdmin;
  private readonly cluster: ClusterConnections;
  private readonly coordinators: Coordinators;
  private readonly closing = new AbortController();
  private readonly rebalanceTimeouts = new Map<string, number>();
  private versions: BrokerVersions = new Map();
  private implicitTransactions = false;
  private hasStreamsGroups = false;

  constructor(
    private readonly config: port.ConnectionConfig,
    logger: Logger,
    private readonly options: KafkajsPortOptions,
  ) {
    this.cluster = new ClusterConnections(config, logger);
    this.coordinators = new Coordinators(this.cluster, logger, this.closing.signal);
    this.admin = new KafkajsAdmin(this, this.cluster, this.closing.signal);
  }

  get transactionV2(): boolean {
    return this.implicitTransactions;
  }

  get streamsGroups(): boolean {
    return this.hasStreamsGroups;
  }

  async connect(): Promise<void> {
    try {
      await this.cluster.readMetadata([]);
      await this.cluster.withAny(async (connection) => {
        this.versions = connection.versions;
        this.implicitTransactions =
          this.options.transactionV2 !== false && hasTransactionV2(connection.versions, connection.finalizedFeatures);
        this.hasStreamsGroups = hasStreamsGroups(connection.versions, connection.finalizedFeatures);
      });
    } catch (error) {
      if (!(error instanceof KafkaTransportError)) throw error;
      throw new MillraceError(
        'MILL_BROKER_UNREACHABLE',
        `None of the brokers ${this.config.brokers.join(', ')} could be reached: ${error.message}`,
        {
          cause: error,
        },
      );
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new KafkaTransportError('The connection to Kafka was closed.'));
    this.cluster.close();
  }

  supports(apiKey: number): number {
    return this.versions.get(apiKey)?.max ?? -1;
  }

  async metadata(topics: readonly string[] | 'all', options: { readonly refresh?: boolean } = {}): Promise<port.ClusterMetadata> {
    if (topics === 'all') return this.cluster.readMetadata(null);
    const known = options.refresh === true ? null : this.cluster.view.known(topics);
    return known ?? this.cluster.readMetadata(topics);
  }

  async listOffsets(queries: readonly port.OffsetQuery[]): Promise<readonly port.OffsetAnswer[]> {
    return listOffsetsOfLeaders(this, this.cluster, queries);
  }

  async fetch(broker: number, request: port.FetchRequest): Promise<port.FetchResponse> {
    const names = topicNamesById(request);
    const maxVersion = names === null ? FETCH_BY_TOPIC_ID - 1 : FETCH_BY_TOPIC_ID;
    return this.cluster.with('fetch', broker, async (connection) => {
      const answer = await connection.send(fetch, request, { maxVersion, parkedMs: request.maxWaitMs });
      if (names === null) return answer;
      return {
        ...answer,
        partitions: answer.partitions.map((partition) => ({ ...partition, topic: names.get(partition.topic) ?? partition.topic })),
      };
    });
  }

  async produce(broker: number, request: port.ProduceRequest): Promise<port.ProduceResponse> {
    const implicit = this.implicitTransactions && request.transactionalId !== null;
    const options = { maxVersion: implicit ? PRODUCE_IMPLICIT_TRANSACTION : PRODUCE_IMPLICIT_TRANSACTION - 1, parkedMs: request.timeoutMs };
    return this.cluster.with('main', broker, async (connection) => {
      if (request.acks !== 0) return connection.send(produce, request, options);
      await connection.sendOneWay(produce, request, options);
      return { throttleMs: 0, partitions: request.partitions.map(unacknowledged) };
    });
  }

  async findCoordinator(
    kind: port.CoordinatorKind,
    key: string,
    options?: { readonly refresh?: boolean; readonly signal?: AbortSignal },
  ): Promise<number> {
    return this.coordinators.find(kind, key, options);
  }

  async initProducerId(broker: number, request: port.InitProducerIdRequest): Promise<port.InitProducerIdResponse> {
    return this.main(broker, initProducerId, request);
  }

  async addPartitionsToTxn(broker: number, request: port.AddPartitionsToTxnRequest): Promise<readonly port.PartitionResult[]> {
    return this.main(broker, addPartitionsToTxn, request);
  }

  async addOffsetsToTxn(
    broker: number,
    request: port.ProducerIdentity & { readonly groupId: string },
  ): Promise<{ readonly errorCode: number }> {
    return this.main(broker, addOffsetsToTxn, request);
  }

  async txnOffsetCommit(broker: number, request: port.TxnOffsetCommitRequest): Promise<readonly port.PartitionResult[]> {
    const maxVersion = this.implicitTransactions ? TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION : TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION - 1;
    return this.main(broker, txnOffsetCommit, request, { maxVersion });
  }

  async endTxn(broker: number, request: port.ProducerIdentity & { readonly commit: boolean }): Promise<port.EndTxnResponse> {
    return this.main(broker, endTxn, request, { maxVersion: this.implicitTransactions ? END_TXN_BUMPS_EPOCH : END_TXN_BUMPS_EPOCH - 1 });
  }

  async listOpenTransactions(prefix: string): Promise<readonly string[] | null> {
    return listOpenTransactions(this.cluster, prefix);
  }

  async joinGroup(broker: number, request: port.JoinGroupRequest): Promise<port.JoinGroupResponse> {
    this.rebalanceTimeouts.set(request.groupId, request.rebalanceTimeoutMs);
    return this.group(broker, joinGroup, request, { parkedMs: request.rebalanceTimeoutMs });
  }

  async syncGroup(broker: number, request: port.SyncGroupRequest): Promise<port.SyncGroupResponse> {
    return this.group(broker, syncGroup, request, { parkedMs: this.rebalanceTimeouts.get(request.groupId) ?? 0 });
  }

  async heartbeat(broker: number, request: port.GroupMemberIdentity): Promise<{ readonly errorCode: number }> {
    return this.group(broker, heartbeat, request);
  }

  /** Not in the group lane: a member may leave while its own join is parked there. */
  async leaveGroup(
    broker: number,
    request: { readonly groupId: string; readonly memberId: string; readonly groupInstanceId: string | null },
  ): Promise<{ readonly errorCode: number }> {
    return this.main(broker, leaveGroup, request);
  }

  async streamsGroupHeartbeat(broker: number, request: StreamsGroupHeartbeatRequest): Promise<StreamsGroupHeartbeatResponse> {
    return this.group(broker, streamsGroupHeartbeat, request);
  }

  async offsetFetch(broker: number, request: port.OffsetFetchRequest): Promise<port.OffsetFetchResponse> {
    return this.main(broker, offsetFetch, request);
  }

  async offsetCommit(broker: number, request: port.OffsetCommitRequest): Promise<readonly port.PartitionResult[]> {
    return this.main(broker, offsetCommit, request);
  }

  private main<Request, Response>(broker: number, api: Api<Request, Response>, request: Request, options?: SendOptions): Promise<Response> {
    return this.cluster.with('main', broker, (connection) => connection.send(api, request, options));
  }

  private group<Request, Response>(
    broker: number,
    api: Api<Request, Response>,
    request: Request,
    options?: SendOptions,
  ): Promise<Response> {
    return this.cluster.with('group', broker, (connection) => connection.send(api, request, options));
  }
}

/** Id → name of the topics asked for; null when one of them has no id. */
function topicNamesById({ partitions }: port.FetchRequest): ReadonlyMap<string, string> | null {
  const names = new Map<string, string>();
  for (const { topic, topicId } of partitions) {
    if (topicId === undefined || topicId === null) return null;
    names.set(topicId, topic);
  }
  return names;
}

/** The feature counts only together with the requests that it needs: a broker in the middle of an upgrade may lack them. */
function hasTransactionV2(versions: BrokerVersions, features: ReadonlyMap<string, number>): boolean {
  return (
    (features.get('transaction.version') ?? 0) >= 2 &&
    (versions.get(produce.key)?.max ?? 0) >= PRODUCE_IMPLICIT_TRANSACTION &&
    (versions.get(txnOffsetCommit.key)?.max ?? 0) >= TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION &&
    (versions.get(endTxn.key)?.max ?? 0) >= END_TXN_BUMPS_EPOCH
  );
}

function hasStreamsGroups(versions: BrokerVersions, features: ReadonlyMap<string, number>): boolean {
  const hasRequests = [streamsGroupHeartbeat, streamsGroupDescribe].every((api) => commonVersion(api, versions) >= 0);
  return hasRequests && (features.get('streams.version') ?? 0) >= 1;
}

function unacknowledged({ topic, partition }: port.TopicPartition): port.ProducedPartition {
  return { topic, partition, errorCode: 0, baseOffset: -1, logAppendTime: -1, errorMessage: null };
}
