/** A port whose answers the test gives one by one, and a clock that only the test moves. */
import { KafkaTransportError } from '../../../src/errors.js';
import type {
  ClusterMetadata,
  FetchedPartition,
  FetchRequest,
  FetchResponse,
  KafkaPort,
  OffsetAnswer,
  OffsetQuery,
  TopicMetadata,
} from '../../../src/kafka/port.js';
import type { FetcherClock } from '../../../src/kafka/fetcher/fetcher-options.js';

export class ManualClock implements FetcherClock {
  private time = 0;
  private readonly timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  private lastId = 0;

  now(): number {
    return this.time;
  }

  setTimeout(callback: () => void, ms: number): number {
    this.timers.set(++this.lastId, { at: this.time + ms, callback });
    return this.lastId;
  }

  clearTimeout(timer: unknown): void {
    this.timers.delete(timer as number);
  }

  /** Runs what falls due on the way, in order, and whatever promises that sets off. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settle();
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.delete(due[0]);
      this.time = Math.max(this.time, due[1].at);
      due[1].callback();
    }
    this.time = end;
    await settle();
  }
}

/** Lets every promise that can go on go on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class SentFetch {
  readonly answered: Promise<FetchResponse>;
  private resolve!: (response: FetchResponse) => void;
  private reject!: (error: Error) => void;

  constructor(
    readonly broker: number,
    readonly request: FetchRequest,
  ) {
    this.answered = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** `topic-partition@offset` of what it asks for. */
  get asks(): string[] {
    return this.request.partitions.map(({ topic, partition, offset }) => `${topic}-${partition}@${offset}`);
  }

  async answer(partitions: readonly Partial<FetchedPartition>[], response: Partial<FetchResponse> = {}): Promise<void> {
    const told = new Map(partitions.map((one) => [`${one.topic ?? 't'}-${one.partition ?? 0}`, one]));
    this.resolve({
      errorCode: 0,
      throttleMs: 0,
      partitions: this.request.partitions.map(({ topic, partition }) => ({
        topic,
        partition,
        errorCode: 0,
        highWatermark: 1000,
        lastStableOffset: 1000,
        logStartOffset: 0,
        abortedTransactions: [],
        records: Buffer.alloc(0),
        ...told.get(`${topic}-${partition}`),
      })),
      ...response,
    });
    await settle();
  }

  async fail(error: Error = new KafkaTransportError('the connection broke')): Promise<void> {
    this.reject(error);
    await settle();
  }
}

export class ScriptedPort implements Pick<KafkaPort, 'fetch' | 'metadata' | 'listOffsets'> {
  readonly sent: SentFetch[] = [];
  /** `topic-partition` → broker; absent: no leader. */
  readonly leaders = new Map<string, number>();
  readonly topicErrors = new Map<string, number>();
  /** Absent: the brokers tell no ids. */
  readonly topicIds = new Map<string, string>();
  metadataRequests = 0;
  refreshes = 0;
  offsetQueries: OffsetQuery[] = [];
  offsets: (query: OffsetQuery) => OffsetAnswer | Promise<OffsetAnswer> = ({ topic, partition }) => ({
    topic,
    partition,
    errorCode: 0,
    offset: 7,
  });

  fetch(broker: number, request: FetchRequest): Promise<FetchResponse> {
    const sent = new SentFetch(broker, request);
    this.sent.push(sent);
    return sent.answered;
  }

  async metadata(topics: readonly string[] | 'all', options: { readonly refresh?: boolean } = {}): Promise<ClusterMetadata> {
    this.metadataRequests++;
    if (options.refresh === true) this.refreshes++;
    const described = new Map<string, TopicMetadata>();
    for (const name of topics) {
      const partitions = [...Array(8).keys()].map((partition) => {
        const leader = this.leaders.get(`${name}-${partition}`) ?? -1;
        return { partition, leader, leaderEpoch: 0, errorCode: 0 };
      });
      described.set(name, {
        name,
        topicId: this.topicIds.get(name) ?? null,
        isInternal: false,
        errorCode: this.topicErrors.get(name) ?? 0,
        partitions,
      });
    }
    return { clusterId: null, controllerId: 1, brokers: [], topics: described };
  }

  async listOffsets(queries: readonly OffsetQuery[]): Promise<readonly OffsetAnswer[]> {
    this.offsetQueries.push(...queries);
    return Promise.all(queries.map(async (query) => this.offsets(query)));
  }

  /** Fetches sent since the last call. */
  take(): SentFetch[] {
    return this.sent.splice(0);
  }
}

/** A record batch of which only the header's lengths and offsets are real. */
export function batch(baseOffset: number, records: number, size = 100): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeBigInt64BE(BigInt(baseOffset), 0);
  bytes.writeInt32BE(size - 12, 8);
  bytes[16] = 2;
  bytes.writeInt32BE(records - 1, 23);
  return bytes;
}
