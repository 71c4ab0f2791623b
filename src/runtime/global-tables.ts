import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../kafka/fetcher/fetcher.js';
import { errorName } from '../kafka/error-codes.js';
import type { KafkaPort, OffsetAnswer, TopicPartition } from '../kafka/port.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import type { Logger } from '../observability/logger.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StateStore, TimestampedKeyValueStore } from '../stores/store.js';
import { TaskState } from '../stores/task-state.js';
import type { GlobalStoreNode, Topology } from '../topology/nodes.js';
import { askHandler, type DeserializationHandler } from './error-policy.js';
import type { SerdeDefaults } from './serde-defaults.js';

export interface GlobalTablesOptions {
  readonly port: KafkaPort;
  readonly topology: Topology;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly serdes: SerdeDefaults;
  readonly deserialization: DeserializationHandler;
  readonly logger: Logger;
  readonly onError: (error: unknown) => void;
}

/**
 * The app's global tables: every partition of each table's topic, in memory, in every instance.
 *
 * `start` reads each topic up to its end; after that records are applied as they come, without regard to the time of the streams that join with them
 * (Kafka Streams' rule). The tables are read again at each start: there is no local copy on disk and no changelog.
 */
export class GlobalTables {
  private readonly byName = new Map<string, GlobalTable>();
  private readonly byTopic = new Map<string, GlobalTable>();
  private readonly fetcher: Fetcher;
  private state: TaskState | null = null;
  private epoch = 0;
  /** A chunk could not be applied: no later one is, and it is told once. */
  private isBroken = false;
  private caughtUp: () => void = () => undefined;
  private failed: (error: unknown) => void = () => undefined;

  constructor(private readonly options: GlobalTablesOptions) {
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
    await this.state?.close({ clean: true });
  }

  private async open(nodes: readonly GlobalStoreNode[]): Promise<readonly (TopicPartition & { readonly start: number })[]> {
    const metadata = await this.options.port.metadata(
      nodes.map(({ topic }) => topic),
      { refresh: true },
    );
    const partitions: (TopicPartition & { start: number })[] = [];
    for (const node of nodes) {
      const table = new GlobalTable(
        node,
        this.options.serdes,
        this.state?.store(node.spec.name) as TimestampedKeyValueStore<unknown, unknown>,
      );
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
      .apply(chunk, this.options)
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

class GlobalTable {
  private readonly keySerde: CompiledSerde<unknown>;
  private readonly valueSerde: CompiledSerde<unknown>;
  private readonly behind = new Map<number, number>();
  /** Offsets to go on at: of what is in the store, and of what readers see of it. */
  private readonly applied = new Map<number, number>();
  private readonly visible = new Map<number, number>();
  private readonly cursor = new RecordCursor();
  private chain: Promise<void> = Promise.resolve();
  /** Ids that the topic has had, the one it has now last; more than one when it was deleted and created again. */
  private readonly topicIds = new Set<string>();
  private topicId: string | null = null;

  constructor(
    private readonly node: GlobalStoreNode,
    serdes: SerdeDefaults,
    private readonly store: TimestampedKeyValueStore<unknown, unknown>,
  ) {
    this.keySerde = serdes.compiled(node.source.keySerde, node.source.name, 'key');
    this.valueSerde = serdes.compiled(node.source.valueSerde, node.source.name, 'value');
  }

  get isCaughtUp(): boolean {
    return this.behind.size === 0;
  }

  positions(): readonly (TopicPartition & { readonly offset: number })[] {
    const { topic } = this.node;
    return [...this.visible].map(([partition, offset]) => ({ topic, partition, offset }));
  }

  settled(): void {
    for (const [partition, offset] of this.applied) this.visible.set(partition, offset);
  }

  expect(partition: number, start: number, end: number): void {
    if (start < end) this.behind.set(partition, end);
  }

  /** Chunks are applied one after the other, in the order they came. */
  apply(chunk: FetchedChunk, options: Pick<GlobalTablesOptions, 'isolation' | 'deserialization' | 'logger'>): Promise<void> {
    this.chain = this.chain.then(() => this.applyNow(chunk, options));
    return this.chain;
  }

  private async applyNow(
    chunk: FetchedChunk,
    options: Pick<GlobalTablesOptions, 'isolation' | 'deserialization' | 'logger'>,
  ): Promise<void> {
    const { cursor } = this;
    const { topic, partition } = chunk;
    if (!(await this.isOfThisTopic(chunk.topicId))) return;
    cursor.open(chunk.records, {
      fetchOffset: chunk.fetchOffset,
      isolation: options.isolation,
      abortedTransactions: chunk.abortedTransactions,
      topic,
      partition,
    });
    while (cursor.next()) {
      if (cursor.keyStart < 0) continue;
      try {
        const key = this.keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
        const value = cursor.valueStart < 0 ? null : this.valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
        if (isPromiseLike(key) || isPromiseLike(value)) this.store.put(await key, await value, cursor.timestamp);
        else this.store.put(key, value, cursor.timestamp);
      } catch (error) {
        await this.undecodable(error, options, { topic, partition, offset: cursor.offset, timestamp: cursor.timestamp });
      }
    }
    this.applied.set(partition, cursor.nextOffset);
    if (cursor.nextOffset >= (this.behind.get(partition) ?? Infinity)) this.behind.delete(partition);
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
    const rows: (readonly [unknown, number])[] = [];
    for await (const [key, { timestamp }] of this.store.range()) rows.push([key, timestamp]);
    for (const [key, timestamp] of rows) this.store.put(key, null, timestamp);
    return true;
  }

  /** A dead letter is part of a transaction, and a global table has none: here that answer is an error. */
  private async undecodable(
    error: unknown,
    options: Pick<GlobalTablesOptions, 'deserialization' | 'logger'>,
    where: { readonly topic: string; readonly partition: number; readonly offset: number; readonly timestamp: number },
  ): Promise<void> {
    const cause = error instanceof Error ? error : new Error(String(error));
    const answer = await askHandler(options.deserialization, cause, { node: this.node.source.name, taskId: 'global', ...where });
    if (answer !== 'continue') {
      const why = answer === 'deadLetter' ? ' (records of global tables can’t be dead-lettered)' : '';
      throw new MillraceError(
        'MILL_DESERIALIZATION',
        `can’t decode the record of ${where.topic}-${where.partition} at offset ${where.offset}${why}: ${cause.message}`,
        {
          cause: error,
          details: where,
        },
      );
    }
    options.logger.warn({ ...where, error: cause.message }, 'dropped an undecodable record of a global table');
  }
}
