import { KafkaTransportError } from '../../../src/errors.js';
import type { KafkaPort, ProduceRequest } from '../../../src/kafka/port.js';
import { topicMetadata } from './machine-driver.js';

type Method =
  | 'initProducerId'
  | 'addPartitionsToTxn'
  | 'addOffsetsToTxn'
  | 'txnOffsetCommit'
  | 'offsetCommit'
  | 'endTxn'
  | 'produce'
  | 'findCoordinator';

/** A cluster of one broker that says yes; `next` lets one request of a method meet something else. */
export class FakePort {
  readonly requests: { readonly method: Method; readonly request: unknown }[] = [];
  readonly produced: ProduceRequest[] = [];
  readonly configs = new Map<string, ReadonlyMap<string, string | null>>();
  configReads = 0;
  private readonly scripts = new Map<Method, (() => unknown)[]>();
  private epoch = -1;
  private offset = 0;

  constructor(private readonly transactionV2 = true) {}

  /** The next request of this method is answered by `script` (a value or a promise) or rejected when it throws. */
  next(method: Method, script: () => unknown): void {
    this.scripts.set(method, [...(this.scripts.get(method) ?? []), script]);
  }

  lose(method: Method): void {
    this.next(method, () => {
      throw new KafkaTransportError('the connection broke');
    });
  }

  count(method: Method): number {
    return this.requests.filter((recorded) => recorded.method === method).length;
  }

  get methods(): Method[] {
    return this.requests.map(({ method }) => method);
  }

  get port(): KafkaPort {
    const answer = async (method: Method, request: unknown, yes: () => unknown): Promise<never> => {
      this.requests.push({ method, request });
      const script = this.scripts.get(method)?.shift();
      return (await (script ?? yes)()) as never;
    };
    const partitionsOf = (request: { readonly offsets: readonly { topic: string; partition: number }[] }): unknown =>
      request.offsets.map(({ topic, partition }) => ({ topic, partition, errorCode: 0 }));
    const port: Partial<KafkaPort> = {
      transactionV2: this.transactionV2,
      metadata: async (topics) => ({
        clusterId: 'c',
        controllerId: 0,
        brokers: [{ nodeId: 0, host: 'h', port: 1, rack: null }],
        topics: new Map((topics === 'all' ? [] : topics).map((topic) => [topic, topicMetadata(topic, 8)])),
      }),
      findCoordinator: (kind, key, options) => answer('findCoordinator', { kind, key, refresh: options?.refresh }, () => 0),
      initProducerId: (_, request) =>
        answer('initProducerId', request, () => ({ errorCode: 0, producerId: 5n, producerEpoch: ++this.epoch })),
      addPartitionsToTxn: (_, request) =>
        answer('addPartitionsToTxn', request, () => request.partitions.map((partition) => ({ ...partition, errorCode: 0 }))),
      addOffsetsToTxn: (_, request) => answer('addOffsetsToTxn', request, () => ({ errorCode: 0 })),
      txnOffsetCommit: (_, request) => answer('txnOffsetCommit', request, () => partitionsOf(request)),
      offsetCommit: (_, request) => answer('offsetCommit', request, () => partitionsOf(request)),
      endTxn: (_, request) =>
        answer('endTxn', request, () => ({
          errorCode: 0,
          next: this.transactionV2 ? { producerId: 5n, producerEpoch: ++this.epoch } : null,
        })),
      produce: (_, request) => {
        this.produced.push({
          ...request,
          partitions: request.partitions.map((p) => ({ ...p, records: p.records.map((r) => Buffer.from(r)) })),
        });
        return answer('produce', request, () => ({ throttleMs: 0, partitions: request.partitions.map((p) => this.accept(p)) }));
      },
      admin: {
        describeTopicConfigs: async (topics: readonly string[]) => {
          this.configReads++;
          return new Map(topics.map((topic) => [topic, this.configs.get(topic) ?? new Map<string, string | null>()]));
        },
      } as unknown as KafkaPort['admin'],
    };
    return port as KafkaPort;
  }

  private accept({ topic, partition, records }: ProduceRequest['partitions'][number]): unknown {
    const baseOffset = this.offset;
    this.offset += records.reduce((count, batch) => count + Buffer.from(batch).readInt32BE(57), 0);
    return { topic, partition, errorCode: 0, baseOffset, logAppendTime: -1, errorMessage: null };
  }
}
