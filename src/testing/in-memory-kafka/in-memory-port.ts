/**
 * The `KafkaPort` of the in-memory cluster: the lanes of the real driver over a network that can be told to fail.
 *
 * As the real driver it makes one attempt a call and says KafkaTransportError when the outcome is not known; only `findCoordinator` repeats.
 */
import { setMaxListeners } from 'node:events';
import { KafkaTransportError, MillraceError } from '../../errors.js';
import { backoffMs } from '../../kafka/backoff.js';
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type * as port from '../../kafka/port.js';
import type { StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse } from '../../kafka/streams-groups.js';
import type { ClientNetwork, Execute } from './client-network.js';
import { InMemoryAdmin } from './in-memory-admin.js';
import type { InMemoryCluster } from './in-memory-cluster.js';
import type { Random } from './random.js';
import type { SimulationClock } from './simulation-clock.js';
import { refused } from './streams-group.js';

export interface InMemoryPortOptions {
  readonly cluster: InMemoryCluster;
  readonly network: ClientNetwork;
  readonly clientId: string;
  readonly clock: SimulationClock;
  readonly random: Random;
  readonly transactionV2: boolean;
}

const streamsGroupHeartbeat = 88;
const streamsGroupDescribe = 89;

/** Highest versions of a 4.4 broker, as far as the port uses the request. */
const versions: ReadonlyMap<number, number> = new Map([
  [0, 13],
  [1, 18],
  [2, 11],
  [3, 13],
  [8, 10],
  [9, 10],
  [10, 6],
  [11, 9],
  [12, 4],
  [13, 5],
  [14, 5],
  [15, 6],
  [19, 7],
  [20, 6],
  [21, 2],
  [22, 5],
  [24, 5],
  [25, 4],
  [26, 5],
  [28, 5],
  [32, 4],
  [42, 2],
  [66, 1],
  [streamsGroupHeartbeat, 1],
  [streamsGroupDescribe, 1],
]);

const coordinatorPause = { initialMs: 20, maxMs: 1000 };

export class InMemoryPort implements port.KafkaPort {
  readonly admin: port.KafkaAdmin;
  readonly transactionV2: boolean;
  readonly streamsGroups: boolean;
  private readonly closing = new AbortController();

  constructor(private readonly options: InMemoryPortOptions) {
    // One listener a request under way.
    setMaxListeners(0, this.closing.signal);
    this.transactionV2 = options.transactionV2;
    this.streamsGroups = options.cluster.options.streamsGroups;
    this.admin = new InMemoryAdmin(options.cluster, (execute) => this.any((reply) => reply(execute())));
  }

  async connect(): Promise<void> {
    try {
      await this.metadata([]);
    } catch (cause) {
      throw new MillraceError('MILL_BROKER_UNREACHABLE', `The in-memory cluster could not be reached: ${String(cause)}`, { cause });
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new KafkaTransportError('The connection to Kafka was closed.'));
    this.options.network.close();
  }

  supports(apiKey: number): number {
    const isMissing = !this.streamsGroups && (apiKey === streamsGroupHeartbeat || apiKey === streamsGroupDescribe);
    return isMissing ? -1 : (versions.get(apiKey) ?? -1);
  }

  async metadata(topics: readonly string[] | 'all'): Promise<port.ClusterMetadata> {
    return this.any((reply) => reply(this.cluster.metadata(topics)));
  }

  async listOffsets(queries: readonly port.OffsetQuery[]): Promise<readonly port.OffsetAnswer[]> {
    return this.any((reply) => reply(this.cluster.listOffsets(queries)));
  }

  async fetch(broker: number, request: port.FetchRequest): Promise<port.FetchResponse> {
    return this.options.network.call(null, broker, (reply) => this.cluster.fetch(broker, request, reply));
  }

  async produce(broker: number, request: port.ProduceRequest): Promise<port.ProduceResponse> {
    // The bytes as they are now: a client may use them again after a request that failed, which may arrive late.
    const partitions = request.partitions.map((one) => ({ ...one, records: [Buffer.concat(one.records)] }));
    const v2 = this.transactionV2 && request.transactionalId !== null;
    return this.main(broker, (reply) => reply(this.cluster.produce(broker, { ...request, partitions }, v2)));
  }

  async findCoordinator(
    kind: port.CoordinatorKind,
    key: string,
    options: { readonly refresh?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const signals = [this.closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    for (let failures = 1; ; failures++) {
      for (const signal of signals) signal.throwIfAborted();
      try {
        const broker = await this.any<number>((reply) => reply(this.cluster.coordinatorOf(kind, key)));
        if (this.cluster.isUp(broker)) return broker;
      } catch (error) {
        if (!(error instanceof KafkaTransportError)) throw error;
      }
      await this.pause(
        backoffMs(failures, coordinatorPause, () => this.options.random.next()),
        signals,
      );
    }
  }

  async initProducerId(broker: number, request: port.InitProducerIdRequest): Promise<port.InitProducerIdResponse> {
    const elsewhere = { errorCode: E.NOT_COORDINATOR, producerId: -1n, producerEpoch: -1 };
    const isHere = request.transactionalId === null || this.coordinates('transaction', request.transactionalId, broker);
    return this.main(broker, (reply) => reply(isHere ? this.cluster.transactions.initProducerId(request) : elsewhere));
  }

  async addPartitionsToTxn(broker: number, request: port.AddPartitionsToTxnRequest): Promise<readonly port.PartitionResult[]> {
    const isHere = this.coordinates('transaction', request.transactionalId, broker);
    return this.main(broker, (reply) =>
      reply(isHere ? this.cluster.transactions.addPartitions(request, request.partitions) : elsewhere(request.partitions)),
    );
  }

  async addOffsetsToTxn(
    broker: number,
    request: port.ProducerIdentity & { readonly groupId: string },
  ): Promise<{ readonly errorCode: number }> {
    const isHere = this.coordinates('transaction', request.transactionalId, broker);
    return this.main(broker, (reply) =>
      reply({ errorCode: isHere ? this.cluster.transactions.addGroup(request, request.groupId) : E.NOT_COORDINATOR }),
    );
  }

  async txnOffsetCommit(broker: number, request: port.TxnOffsetCommitRequest): Promise<readonly port.PartitionResult[]> {
    const isHere = this.coordinates('group', request.groupId, broker);
    return this.main(broker, (reply) =>
      reply(isHere ? this.cluster.txnOffsetCommit(request, this.transactionV2) : elsewhere(request.offsets)),
    );
  }

  async endTxn(broker: number, request: port.ProducerIdentity & { readonly commit: boolean }): Promise<port.EndTxnResponse> {
    const isHere = this.coordinates('transaction', request.transactionalId, broker);
    return this.main(broker, (reply) =>
      reply(isHere ? this.cluster.transactions.endTxn(request, this.transactionV2) : { errorCode: E.NOT_COORDINATOR, next: null }),
    );
  }

  async listOpenTransactions(prefix: string): Promise<readonly string[] | null> {
    return this.any((reply) => reply(this.cluster.transactions.open.filter((id) => id.startsWith(prefix)).sort()));
  }

  async joinGroup(broker: number, request: port.JoinGroupRequest): Promise<port.JoinGroupResponse> {
    const { groupId, memberId } = request;
    if (!this.coordinates('group', groupId, broker)) {
      return { errorCode: E.NOT_COORDINATOR, generation: -1, protocolName: null, leader: '', memberId, members: [] };
    }
    return this.group(broker, (reply) => this.cluster.groups.join(request, this.options.clientId, reply));
  }

  async syncGroup(broker: number, request: port.SyncGroupRequest): Promise<port.SyncGroupResponse> {
    if (!this.coordinates('group', request.groupId, broker)) return { errorCode: E.NOT_COORDINATOR, assignment: Buffer.alloc(0) };
    return this.group(broker, (reply) => this.cluster.groups.sync(request, reply));
  }

  async heartbeat(broker: number, request: port.GroupMemberIdentity): Promise<{ readonly errorCode: number }> {
    const isHere = this.coordinates('group', request.groupId, broker);
    return this.group(broker, (reply) => reply({ errorCode: isHere ? this.cluster.groups.heartbeat(request) : E.NOT_COORDINATOR }));
  }

  async streamsGroupHeartbeat(broker: number, request: StreamsGroupHeartbeatRequest): Promise<StreamsGroupHeartbeatResponse> {
    if (!this.streamsGroups) throw new MillraceError('MILL_BROKER_TOO_OLD', 'The cluster in memory was made without streams groups.');
    const isHere = this.coordinates('group', request.groupId, broker);
    return this.group(broker, (reply) =>
      reply(isHere ? this.cluster.groups.streamsHeartbeat(request) : refused(E.NOT_COORDINATOR, 'This is not the correct coordinator.')),
    );
  }

  async leaveGroup(
    broker: number,
    {
      groupId,
      memberId,
      groupInstanceId,
    }: { readonly groupId: string; readonly memberId: string; readonly groupInstanceId: string | null },
  ): Promise<{ readonly errorCode: number }> {
    const isHere = this.coordinates('group', groupId, broker);
    return this.main(broker, (reply) =>
      reply({ errorCode: isHere ? this.cluster.groups.leave(groupId, memberId, groupInstanceId) : E.NOT_COORDINATOR }),
    );
  }

  async offsetFetch(broker: number, request: port.OffsetFetchRequest): Promise<port.OffsetFetchResponse> {
    const isHere = this.coordinates('group', request.groupId, broker);
    return this.main(broker, (reply) => reply(isHere ? this.cluster.offsetFetch(request) : { errorCode: E.NOT_COORDINATOR, offsets: [] }));
  }

  async offsetCommit(broker: number, request: port.OffsetCommitRequest): Promise<readonly port.PartitionResult[]> {
    const isHere = this.coordinates('group', request.groupId, broker);
    return this.main(broker, (reply) => reply(isHere ? this.cluster.offsetCommit(request) : elsewhere(request.offsets)));
  }

  private get cluster(): InMemoryCluster {
    return this.options.cluster;
  }

  private coordinates(kind: port.CoordinatorKind, key: string, broker: number): boolean {
    return this.cluster.coordinatorOf(kind, key) === broker;
  }

  private main<T>(broker: number, execute: Execute<T>): Promise<T> {
    return this.options.network.call('main', broker, execute);
  }

  private group<T>(broker: number, execute: Execute<T>): Promise<T> {
    return this.options.network.call('group', broker, execute);
  }

  /** Whichever broker is up. */
  private any<T>(execute: Execute<T>): Promise<T> {
    const { brokerIds } = this.cluster;
    return this.main(brokerIds.find((broker) => this.cluster.isUp(broker)) ?? 1, execute);
  }

  private pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel();
        for (const signal of signals) signal.removeEventListener('abort', stop);
        const aborted = signals.find((signal) => signal.aborted);
        if (aborted === undefined) resolve();
        else reject(aborted.reason as Error);
      };
      const cancel = this.options.clock.setTimer(stop, ms);
      for (const signal of signals) signal.addEventListener('abort', stop, { once: true });
    });
  }
}

function elsewhere(partitions: readonly port.TopicPartition[]): readonly port.PartitionResult[] {
  return partitions.map(({ topic, partition }) => ({ topic, partition, errorCode: E.NOT_COORDINATOR }));
}
