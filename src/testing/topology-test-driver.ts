/**
 * Runs a topology without a broker: records in, records out, time and commits in the test's hand.
 *
 * The operators, tasks and stores are those of an app; only the broker is replaced, by a log in memory. Repartition topics loop back inside, and records that
 * the topology writes to a topic it also reads are processed too. All of it happens inside `pipe`, so a test needs no waiting.
 */
import { MillraceError } from '../errors.js';
import { shown, requireOptions } from '../errors/checked-options.js';
import type { StateQueryRequest, StateQueryResult } from '../queries/state-query.js';
import type { KeyValueView } from '../queries/views/key-value-view.js';
import type { SessionView } from '../queries/views/session-view.js';
import type { ViewOptions } from '../queries/views/store-view.js';
import type { VersionedView } from '../queries/views/versioned-view.js';
import { viewOf, type AnyView, type ViewKind } from '../queries/views/view-of.js';
import type { WindowView } from '../queries/views/window-view.js';
import type { DropReason } from '../processors/operator.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { StateStore } from '../stores/store.js';
import { checkTopology } from '../topology/checked-topology.js';
import type { Topology } from '../topology/nodes.js';
import type { TaskId } from '../topology/task-layout.js';
import { DriverTasks, type RestoreStores } from './driver-tasks.js';
import { DriverTopics } from './driver-topics.js';
import { driverShape, type TestDriverConfig } from './test-driver-config.js';
import type { ReachedWatermark } from './harness-snapshot.js';
import { TestInputTopic } from './test-input-topic.js';
import { TestOutputTopic } from './test-output-topic.js';
import { TopicLog } from './topic-log.js';
import { checkTopicSerdes, type TopicSerdes } from './topic-serdes.js';

/** What the harnesses of this folder may do to their driver, and nobody else. */
interface HarnessAccess {
  /** Fills the stores, and says how far event time was in each task, before any processor is made. */
  restoreWith(driver: TopologyTestDriver, restore: RestoreStores, reached: (id: TaskId) => number): void;
  /** How far event time is in each task. */
  reached(driver: TopologyTestDriver): Promise<readonly ReachedWatermark[]>;
  /** @throws MILL_STATE_INVALID when the topology has failed at an earlier call */
  mustGoOn(driver: TopologyTestDriver): void;
}
export let harnessAccess: HarnessAccess;

/**
 * @example
 * await using driver = new TopologyTestDriver(topology);
 * const lines = driver.inputTopic('lines', { keySerde: serdes.string, valueSerde: serdes.string });
 * const counts = driver.outputTopic('word-counts', { keySerde: serdes.string, valueSerde: serdes.int64 });
 * await lines.pipe(null, 'to be or not to be');
 * counts.readAll().map(({ key, value }) => [key, value]);
 */
export class TopologyTestDriver {
  private readonly config: TestDriverConfig;
  private readonly topics: DriverTopics;
  private readonly log = new TopicLog();
  private readonly topology: Topology;
  private opening: Promise<DriverTasks> | null = null;
  private tasks: DriverTasks | null = null;
  private busy = false;
  private closed = false;
  /** What failed in the topology; null as long as nothing has. */
  private failure: { readonly error: unknown } | null = null;
  private now: number;
  private restore: RestoreStores | null = null;
  private reached: (id: TaskId) => number = () => -Infinity;

  static {
    harnessAccess = {
      restoreWith: (driver, restore, reached) => {
        driver.restore = restore;
        driver.reached = reached;
      },
      reached: (driver) => driver.exclusively(async (tasks) => tasks.reached()),
      mustGoOn: (driver) => driver.mustGoOn(),
    };
  }

  /** @throws MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_CONFIG_INVALID; MILL_TOPOLOGY_INVALID when the topology was not built */
  constructor(topology: Topology, config: TestDriverConfig = {}) {
    checkTopology(topology, 'TopologyTestDriver');
    requireOptions('TopologyTestDriver', config, driverShape, 'MILL_CONFIG_INVALID');
    this.topology = topology;
    this.config = config;
    this.now = config.wallClock ?? 0;
    this.topics = new DriverTopics(topology, this.applicationId, config.partitions ?? {}, config.deadLetterTopic ?? null);
  }

  /** @throws MILL_TOPIC_MISSING when the topology does not read the topic; MILL_CONFIG_INVALID without both serdes */
  inputTopic<K, V>(name: string, serdes: TopicSerdes<K, V>): TestInputTopic<K, V> {
    this.topics.checkInput(name);
    checkTopicSerdes('inputTopic', name, serdes);
    return new TestInputTopic(name, serdes.keySerde, serdes.valueSerde, {
      partitions: (topic) => this.topics.partitions(topic),
      builder: (topic, partition) => this.log.builder(topic, partition),
      wallClock: () => this.now,
      process: (append) => this.working((tasks) => this.process(tasks), append),
    });
  }

  /**
   * Changelog and repartition topics can be read too, by their full names.
   *
   * @throws MILL_TOPIC_MISSING when the topology does not write the topic; MILL_CONFIG_INVALID without both serdes
   */
  outputTopic<K, V>(name: string, serdes: TopicSerdes<K, V>): TestOutputTopic<K, V> {
    this.topics.checkOutput(name, this.log.has(name), this.config.deadLetterTopic ?? null);
    checkTopicSerdes('outputTopic', name, serdes);
    return new TestOutputTopic(name, serdes.keySerde, serdes.valueSerde, this.log);
  }

  /** Moves the wall clock by `ms` and fires the punctuations that are due then. */
  async advanceWallClock(ms: number): Promise<void> {
    if (!Number.isSafeInteger(ms) || ms < 0)
      throw new MillraceError('MILL_CONFIG_INVALID', `advanceWallClock takes a whole number of milliseconds, 0 or more, not ${shown(ms)}.`);
    // Not before the tasks are open: their timers count from the time at which they were.
    await this.working(
      async (tasks) => {
        await tasks.punctuate(this.now);
        await this.process(tasks);
      },
      () => {
        this.now += ms;
      },
    );
  }

  /** The end of a bounded run (`app.runUntilEnd`): results that wait for time are told. Records may still be piped; they are as those of a next run. */
  async endInput(): Promise<void> {
    await this.working((tasks) => tasks.endInput());
  }

  /** Commits: results that wait for it are emitted, and stores write their changelogs. Needed only with `autoCommit: false`. */
  async commit(): Promise<void> {
    await this.working((tasks) => tasks.commit());
  }

  /**
   * A store of the topology, to look into or to fill before the first record. `partition` tells which task's, for stores that are not global.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE
   */
  async store<S extends StateStore = StateStore>(name: string, partition = 0): Promise<S> {
    return this.exclusively(async (tasks) => {
      const store = tasks.store(name, partition);
      if (store === undefined) {
        const known = [...this.topology.stores.keys(), ...this.topology.globalStores.keys()].join(', ') || 'none';
        throw new MillraceError(
          'MILL_TOPOLOGY_UNKNOWN_STORE',
          `There is no store ${name} in partition ${partition}; the topology has: ${known}.`,
        );
      }
      return store as S;
    });
  }

  /**
   * A read-only view of a store over all partitions, as `StreamsApp.store` gives it. With `autoCommit: false` the default `isolation` shows nothing before `commit`.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE
   */
  async view<K = unknown, V = unknown>(
    name: string,
    options?: ViewOptions<K> & { readonly kind?: 'keyValue' },
  ): Promise<KeyValueView<K, V>>;
  async view<K = unknown, V = unknown>(name: string, options: ViewOptions<K> & { readonly kind: 'window' }): Promise<WindowView<K, V>>;
  async view<K = unknown, V = unknown>(name: string, options: ViewOptions<K> & { readonly kind: 'session' }): Promise<SessionView<K, V>>;
  async view<K = unknown, V = unknown>(
    name: string,
    options: ViewOptions<K> & { readonly kind: 'versioned' },
  ): Promise<VersionedView<K, V>>;
  async view<K, V>(name: string, options: ViewOptions<K> & { readonly kind?: ViewKind } = {}): Promise<AnyView<K, V>> {
    return this.exclusively(async ({ queries }) => viewOf<K, V>(queries, name, options));
  }

  /** Asks a store partition by partition, as `StreamsApp.query` does. @throws MILL_TOPOLOGY_UNKNOWN_STORE */
  async query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>> {
    return this.exclusively(({ queries }) => queries.query(request));
  }

  /** Records that the rules dropped so far, over all operators. */
  get droppedRecords(): number {
    let total = 0;
    for (const count of this.droppedByReason.values()) total += count;
    return total;
  }

  /** Records that rules dropped since the start, by reason. */
  get droppedByReason(): ReadonlyMap<DropReason, number> {
    return this.tasks?.dropped() ?? new Map<DropReason, number>();
  }

  /**
   * What the watermark of an operator waits for, as `app.explainWatermark` tells it.
   *
   * @param operator a node of the topology; default: all
   * @throws MILL_CONFIG_INVALID when the topology has no such node
   */
  async explainWatermark(operator?: string): Promise<WatermarkExplanation> {
    return this.exclusively(async (tasks) => tasks.explainWatermark(operator ?? null));
  }

  /** Milliseconds since the epoch. */
  get wallClock(): number {
    return this.now;
  }

  /** Closes processors and stores. Called again, it does nothing. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    // What kept it from opening was told where it was called.
    const opened = await this.opening?.catch(() => null);
    await opened?.close();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private get applicationId(): string {
    return this.config.applicationId ?? 'test';
  }

  private async process(tasks: DriverTasks): Promise<void> {
    await tasks.run();
    if (this.config.autoCommit !== false || tasks.commitRequested) await tasks.commit();
  }

  /**
   * Nothing goes on after a failure: state and time are half of what the record would have made of them. An app would open the tasks anew from the last commit.
   *
   * @throws MILL_STATE_INVALID with what failed as its cause
   */
  private mustGoOn(): void {
    if (this.failure === null) return;
    const { error } = this.failure;
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `The topology failed at an earlier call and can't go on: make a new driver or harness. It failed with: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }

  /** @param before what the test brings: its own faults are no failure of the topology */
  private working(work: (tasks: DriverTasks) => Promise<void>, before: () => void = () => undefined): Promise<void> {
    return this.exclusively(async (tasks) => {
      this.mustGoOn();
      before();
      try {
        await work(tasks);
      } catch (error) {
        this.failure = { error };
        throw error;
      }
    });
  }

  /** One thing at a time: a `pipe` that is not awaited before the next would make the order of records a matter of luck. */
  private async exclusively<T>(work: (tasks: DriverTasks) => Promise<T>): Promise<T> {
    if (this.closed) throw new MillraceError('MILL_STATE_INVALID', 'The test driver is closed.');
    if (this.busy) throw new MillraceError('MILL_STATE_INVALID', 'The test driver is still at work: await each call before the next.');
    this.busy = true;
    try {
      this.tasks ??= await this.open();
      return await work(this.tasks);
    } finally {
      this.busy = false;
    }
  }

  private open(): Promise<DriverTasks> {
    const { topology, applicationId, config, topics, log, restore, reached } = this;
    this.opening = DriverTasks.open({ topology, applicationId, config, topics, log, wallClock: () => this.now, restore, reached });
    return this.opening;
  }
}

/** A test knows the types of its topics; the topology's own serdes would hide a wrong one. */
