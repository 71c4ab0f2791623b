import { MillraceError } from '../errors.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../kafka/fetcher/fetcher.js';
import { errorName } from '../kafka/error-codes.js';
import type { CompressionType } from '../kafka/compression/compression-type.js';
import type { KafkaPort, OffsetAnswer, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import type { ProcessorWrapper } from '../processors/processor-wrapper.js';
import type { StateStore } from '../stores/store.js';
import { TaskState } from '../stores/task-state.js';
import type { GlobalStoreNode, Topology } from '../topology/nodes.js';
import { callTimers } from './call-timers.js';
import type { ErrorPolicy } from './error-policy.js';
import { GlobalOutput } from './global-output.js';
import { GlobalTable } from './global-table.js';
import type { SerdeDefaults } from './serde-defaults.js';
import type { TaskEnvironment } from './task-environment.js';
import { TaskMetrics } from './task-metrics.js';

export interface GlobalTablesOptions {
  readonly applicationId: string;
  readonly port: KafkaPort;
  readonly topology: Topology;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly serdes: SerdeDefaults;
  /** Rests before another try have no bound of time here: there is no transaction that could run out. */
  readonly errors: ErrorPolicy;
  /** Of dead letters; default none. */
  readonly compressionType?: CompressionType;
  readonly processorWrapper?: ProcessorWrapper | null;
  readonly logger: Logger;
  readonly onError: (error: unknown) => void;
}

/**
 * The app's global tables: every partition of each table's topic, in memory, in every instance.
 *
 * `start` reads each topic up to its end; after that records are applied as they come, without regard to the time of the streams that join with them
 * (Kafka Streams' rule). The tables are read again at each start: there is no local copy on disk and no changelog. So a record that can't be read or processed is dead-lettered
 * by each instance, and again at each of its starts.
 */
export class GlobalTables {
  readonly metrics = new TaskMetrics();
  private readonly byName = new Map<string, FollowedTable>();
  private readonly byTopic = new Map<string, FollowedTable>();
  private readonly output: GlobalOutput;
  private readonly fetcher: Fetcher;
  private state: TaskState | null = null;
  private epoch = 0;
  /** A chunk could not be applied: no later one is, and it is told once. */
  private isBroken = false;
  private caughtUp: () => void = () => undefined;
  private failed: (error: unknown) => void = () => undefined;

  constructor(private readonly options: GlobalTablesOptions) {
    this.output = new GlobalOutput(options.port, options.logger, options.compressionType ?? 'none');
    this.fetcher = new Fetcher(options.port, {
      isolation: options.isolation,
      autoOffsetReset: () => 'earliest',
      logger: options.logger,
      onData: (chunk) => {
        this.receive(chunk);
      },
      onError: (error) => {
        this.failed(error);
      },
    });
  }

  store(name: string): StateStore | undefined {
    return this.byName.has(name) ? this.state?.store(name) : undefined;
  }

  /** Whether they hold what their topics held at the start. */
  get isCaughtUp(): boolean {
    return [...this.byName.values()].every((table) => table.isCaughtUp);
  }

  /** The state of all tables; null before it is open. */
  get tables(): TaskState | null {
    return this.state;
  }

  /** Offsets to go on at, of every partition of the tables' topics. */
  positions(): readonly (TopicPartition & { readonly offset: number })[] {
    return [...this.byName.values()].flatMap((table) => table.positions());
  }

  /** Resolves when every table holds what its topic held at the start. */
  async start(): Promise<void> {
    const nodes = [...this.options.topology.globalStores.values()];
    this.state = await TaskState.open({
      taskId: 'global',
      directory: null,
      specs: nodes.map(({ spec }) => ({ ...spec, engine: 'memory' as const })),
      defaultEngine: 'memory',
      serdes: (spec) => this.options.serdes.ofStore(spec),
      cacheBytes: 0,
      logger: this.options.logger,
    });
    const ends = await this.open(nodes);
    const done = new Promise<void>((resolve, reject) => {
      this.caughtUp = resolve;
      this.failed = reject;
    });
    for (const { topic, partition, start } of ends) this.fetcher.assign({ topic, partition }, start);
    this.fetcher.start();
    this.checkCaughtUp();
    await done;
    this.failed = (error) => {
      this.options.onError(error);
    };
    this.options.logger.info({ tables: [...this.byName.keys()] }, 'global tables are read');
  }

  async close(): Promise<void> {
    await this.fetcher.stop();
    for (const table of this.byName.values()) await table.close();
    await this.output.close();
    await this.state?.close({ clean: true });
  }

  private async open(nodes: readonly GlobalStoreNode[]): Promise<readonly (TopicPartition & { readonly start: number })[]> {
    const metadata = await this.options.port.metadata(
      nodes.map(({ topic }) => topic),
      { refresh: true },
    );
    const partitions: (TopicPartition & { start: number })[] = [];
    for (const node of nodes) {
      const table = new FollowedTable(new GlobalTable(node, (name) => this.state?.store(name), this.environment()));
      this.byName.set(node.spec.name, table);
      this.byTopic.set(node.topic, table);
      for (const { partition } of metadata.topics.get(node.topic)?.partitions ?? [])
        partitions.push({ topic: node.topic, partition, start: 0 });
    }
    const starts = await this.options.port.listOffsets(
      partitions.map(({ topic, partition }) => ({ topic, partition, at: 'earliest' as const })),
    );
    const ends = await this.options.port.listOffsets(
      partitions.map(({ topic, partition }) => ({ topic, partition, at: 'latest' as const, isolation: this.options.isolation })),
    );
    for (const entry of partitions) {
      const at = ({ topic, partition }: TopicPartition): boolean => topic === entry.topic && partition === entry.partition;
      entry.start = known(starts.find(at), entry);
      this.byTopic.get(entry.topic)?.expect(entry.partition, entry.start, known(ends.find(at), entry));
    }
    return partitions;
  }

  private receive(chunk: FetchedChunk): void {
    const table = this.byTopic.get(chunk.topic);
    if (table === undefined || this.isBroken) {
      this.fetcher.consumed(chunk.byteLength, chunk);
      return;
    }
    const release = (): void => {
      this.fetcher.consumed(chunk.byteLength, chunk);
    };
    table
      .apply(chunk)
      .then(() => this.output.send())
      .then(() => {
        this.settle();
        release();
        this.checkCaughtUp();
      })
      .catch((error: unknown) => {
        release();
        if (this.isBroken) return;
        this.isBroken = true;
        this.failed(error);
      });
  }

  private environment(): TaskEnvironment {
    const { applicationId, errors, logger, isolation, serdes, processorWrapper = null } = this.options;
    return {
      applicationId,
      output: this.output,
      errors: { ...errors, retryBudgetMs: Infinity },
      processorWrapper,
      logger,
      metrics: this.metrics,
      defaultEmit: 'onUpdate',
      maxTaskIdleMs: 0,
      isolation,
      wallClock: Date.now,
      requestCommit: () => undefined,
      calls: callTimers(this.metrics, () => undefined),
      serde: (serde, node, part) => serdes.compiled(serde, node, part),
    };
  }

  /** There is no changelog: what was applied is simply no longer dirty. */
  private settle(): void {
    this.epoch++;
    this.state?.freeze(this.epoch, { append: () => undefined });
    this.state?.committed(this.epoch, new Map());
    for (const table of this.byName.values()) table.settled();
    // Lets go of the list of what changed.
    this.state?.maybeFlush(Date.now());
  }

  private checkCaughtUp(): void {
    for (const table of this.byName.values()) if (!table.isCaughtUp) return;
    this.caughtUp();
  }
}

function known(answer: OffsetAnswer | undefined, { topic, partition }: TopicPartition): number {
  if (answer !== undefined && answer.errorCode === 0) return answer.offset;
  throw new MillraceError(
    'MILL_BROKER_ERROR',
    `can’t read the offsets of the global table’s partition ${topic}-${partition}: ${errorName(answer?.errorCode ?? -1)}`,
    { details: { topic, partition, brokerErrorCode: answer?.errorCode } },
  );
}

/** A table, and how far behind its topic's end at the start it is. */
class FollowedTable {
  private readonly behind = new Map<number, number>();
  /** Offsets to go on at: of what is in the store, and of what readers see of it. */
  private readonly applied = new Map<number, number>();
  private readonly visible = new Map<number, number>();
  private chain: Promise<void> = Promise.resolve();
  /** Ids that the topic has had, the one it has now last; more than one when it was deleted and created again. */
  private readonly topicIds = new Set<string>();
  private topicId: string | null = null;

  constructor(private readonly table: GlobalTable) {}

  get isCaughtUp(): boolean {
    return this.behind.size === 0;
  }

  positions(): readonly (TopicPartition & { readonly offset: number })[] {
    const { topic } = this.table;
    return [...this.visible].map(([partition, offset]) => ({ topic, partition, offset }));
  }

  settled(): void {
    for (const [partition, offset] of this.applied) this.visible.set(partition, offset);
  }

  expect(partition: number, start: number, end: number): void {
    if (start < end) this.behind.set(partition, end);
  }

  /** Chunks are applied one after the other, in the order they came. */
  apply(chunk: FetchedChunk): Promise<void> {
    this.chain = this.chain.then(async () => {
      if (!(await this.isOfThisTopic(chunk.topicId))) return;
      const next = await this.table.apply(chunk);
      this.applied.set(chunk.partition, next);
      if (next >= (this.behind.get(chunk.partition) ?? Infinity)) this.behind.delete(chunk.partition);
    });
    return this.chain;
  }

  /**
   * A topic that was deleted and created again takes its rows with it. Its partitions come over one by one: what another one still brings of the topic that is gone
   * is no longer wanted.
   */
  private async isOfThisTopic(topicId: string | null): Promise<boolean> {
    if (topicId === null || topicId === this.topicId) return true;
    if (this.topicIds.has(topicId)) return false;
    const isFirst = this.topicIds.size === 0;
    this.topicIds.add(topicId);
    this.topicId = topicId;
    if (isFirst) return true;
    await this.table.clear();
    return true;
  }

  close(): Promise<void> {
    return this.table.close();
  }
}
