import { EventEmitter } from 'node:events';
import { MillraceError } from '../errors.js';
import { delay } from '../kafka/backoff.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { emptyGroupView, type GroupView } from '../rebalance/group-view.js';
import { builtInAssignor } from '../rebalance/built-in-assignors.js';
import { LocalState } from '../runtime/local-state.js';
import { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StandbyUpdateListener } from '../runtime/standby-listener.js';
import { explainWatermarks } from '../runtime/explain-watermarks.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { RestoreListener } from '../runtime/state-restorer.js';
import { buildThread, type BuiltThread } from '../runtime/thread-factory.js';
import { errorPolicy } from '../runtime/error-policy.js';
import { GlobalTables } from '../runtime/global-tables.js';
import type { InstanceDirectory } from '../stores/state-directory.js';
import { checkTopology } from '../topology/checked-topology.js';
import type { Topology } from '../topology/nodes.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import { qualifiedName } from '../topology/task-layout.js';
import { StoreQueries } from '../queries/store-queries.js';
import { AppQueryHost } from './app-query-host.js';
import { StoreAccess } from './store-access.js';
import { BoundedRun } from './bounded-run.js';
import { runBounded, type RunSummary, type RunUntilEndOptions } from './run-until-end.js';
import { snapshotMetrics, type AppMetrics } from './app-metrics.js';
import { realPlatform, type AppPlatform } from './app-platform.js';
import { reusedSourceTopicFaults } from './reused-source-topics.js';
import { resolveConfig, type ResolvedConfig, type StreamsConfig } from './config.js';
import { prepareTopics } from './internal-topics.js';

/**
 * `created` → `rebalancing` ⇄ `running` → `pendingShutdown` → `notRunning`; after an error that stops the app `pendingError` → `error`. The states of Kafka
 * Streams.
 */
export type StreamsState = 'created' | 'rebalancing' | 'running' | 'pendingShutdown' | 'notRunning' | 'pendingError' | 'error';

/** What to do after an error that Millrace can't mend by itself: go on from the last commit, or stop this app. */
export type UncaughtErrorAnswer = 'replaceThread' | 'shutdownClient';
/** Asked for each such error. */
export type UncaughtErrorHandler = (error: Error) => UncaughtErrorAnswer;

/** For `app.close`. */
export interface CloseOptions {
  /** Milliseconds; default 30 000. After it the app stops without having committed what is open (MILL_CLOSE_TIMEOUT). */
  readonly timeout?: number;
  /**
   * Whether other instances get the tasks now (true), or wait for this one to come back until its session ends. Default true, and false with a `groupInstanceId`. Without one only a
   * restart with the same `stateDir` takes the old place.
   */
  readonly leaveGroup?: boolean;
}

/** What `app.on` tells of: the arguments of a listener by event. */
export interface StreamsAppEvents {
  /** New state, old state. */
  state: [StreamsState, StreamsState];
  /** An error that stopped the app, or that the uncaught-error handler let pass. */
  error: [Error];
  /** The group has assigned tasks anew, this instance's or others'. */
  group: [GroupView];
}

/** How long a stop that no longer waits for the broker may still take for the local state, ms. */
const abandonWithinMs = 1000;

/**
 * A stream processing app: one topology, run by every instance with the same `applicationId`, which share its work.
 *
 * @example
 * ```ts
 * const app = new StreamsApp(builder.build(), { applicationId: 'word-count', bootstrapServers: 'localhost:9092' });
 * await app.start();
 * process.once('SIGTERM', () => void app.close().catch(console.error));
 * ```
 */
export class StreamsApp extends StoreAccess {
  private readonly config: ResolvedConfig;
  private readonly serdes: SerdeDefaults;
  private readonly logger: Logger;
  private readonly events = new EventEmitter<StreamsAppEvents>();
  private currentState: StreamsState = 'created';
  private restoreListener: RestoreListener = {};
  private standbyListener: StandbyUpdateListener = {};
  private uncaughtErrorHandler: UncaughtErrorHandler = () => 'shutdownClient';
  private ports: KafkaPort[] = [];
  private directory: InstanceDirectory | null = null;
  private built: BuiltThread | null = null;
  private globals: GlobalTables | null = null;
  /** `startParts` under way or done: whoever shuts down waits until it opens nothing more. */
  private starting: Promise<void> | null = null;
  private ending: Promise<void> | null = null;
  private closing: Promise<void> | null = null;
  private failure: Error | null = null;
  private view = emptyGroupView;
  protected readonly queries: StoreQueries;
  /** Of `runUntilEnd`: where the run ends is known once the topics are. */
  private bounds: InputEnd | null = null;
  private run: BoundedRun | null = null;
  private endStart: (reason: Error) => void = () => undefined;
  /** Rejects when the app is being shut down. */
  private readonly startEnded = new Promise<never>((_, reject) => {
    this.endStart = reject;
  });

  /**
   * @param platform for tests: what stands in for sockets and files
   * @throws MILL_CONFIG_INVALID with every fault of the configuration and every node without a serde; MILL_TOPOLOGY_INVALID when the topology was not built
   */
  constructor(
    private readonly topology: Topology,
    config: StreamsConfig,
    private readonly platform: AppPlatform = realPlatform,
  ) {
    checkTopology(topology, 'StreamsApp');
    super();
    this.config = resolveConfig(config);
    this.logger = this.config.logger;
    this.startEnded.catch(() => undefined);
    this.serdes = new SerdeDefaults(this.config.defaultKeySerde, this.config.defaultValueSerde);
    this.queries = new StoreQueries(
      new AppQueryHost({
        topology,
        serdes: this.serdes,
        state: () => this.currentState,
        built: () => this.built,
        globals: () => this.globals,
        groupView: () => this.view,
        processId: () => this.directory?.processId ?? null,
      }),
    );
    const faults = [...this.serdes.missing(topology), ...reusedSourceTopicFaults(topology, this.config.deserializationHandler)];
    if (faults.length > 0) throw new MillraceError('MILL_CONFIG_INVALID', faults.join('; '), { details: { faults } });
  }

  /** Where the app stands; `on('state', …)` tells of changes. */
  get state(): StreamsState {
    return this.currentState;
  }

  /** `state` (new, old), `error` and `group`. Returns a function that takes the listener away. */
  on<E extends keyof StreamsAppEvents>(event: E, listener: (...args: StreamsAppEvents[E]) => void): () => void {
    const untyped = listener as (...args: unknown[]) => void;
    this.events.on(event, untyped as never);
    return () => {
      this.events.off(event, untyped as never);
    };
  }

  /** Told of every store that is restored, with progress and time left. Set it before `start`. */
  setRestoreListener(listener: RestoreListener): void {
    this.restoreListener = listener;
  }

  /** Told of every standby on this instance, as its stores follow their changelogs. Set it before `start`. */
  setStandbyUpdateListener(listener: StandbyUpdateListener): void {
    this.standbyListener = listener;
  }

  /** Asked after an error that Millrace can't mend. Default: `shutdownClient`. */
  setUncaughtErrorHandler(handler: UncaughtErrorHandler): void {
    this.uncaughtErrorHandler = handler;
  }

  /**
   * Checks topics, creates internal ones, joins the group and begins to work. Resolves when the group has given this instance its tasks; restoring them goes on in the
   * background (`state` becomes `running` at its end).
   *
   * @throws MILL_BROKER_UNREACHABLE, MILL_BROKER_TOO_OLD, MILL_TOPIC_MISSING, MILL_TOPIC_INCOMPATIBLE, MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_AUTHORIZATION,
   * MILL_STORE_DIRECTORY_LOCKED, MILL_GROUP_FATAL, MILL_INSTANCE_FENCED, MILL_ASSIGNOR_INVALID, MILL_STATE_INVALID
   */
  async start(): Promise<void> {
    if (this.currentState !== 'created')
      throw new MillraceError('MILL_STATE_INVALID', `start() needs state created, the app is ${this.currentState}`);
    this.become('rebalancing');
    this.starting = this.startParts();
    try {
      await this.starting;
    } catch (error) {
      if (this.failure !== null) {
        await this.ending?.catch(() => undefined);
        throw this.failure;
      }
      if (this.closing !== null) throw new MillraceError('MILL_STATE_INVALID', 'the app was closed while it started', { cause: error });
      await this.shutDown('error', false).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Commits what is processed, gives the tasks to other instances and stops. A second call waits for the first. During `start` it makes `start` reject with
   * MILL_STATE_INVALID.
   *
   * @throws MILL_CLOSE_TIMEOUT; MILL_STORE_IO when the local state could not be written (its changelog has it); the app is stopped then, too, and what was not committed is processed again by the next owner
   */
  async close(options: CloseOptions = {}): Promise<void> {
    this.closing ??= this.closeWithin(options.timeout ?? 30_000, options.leaveGroup ?? null);
    return this.closing;
  }

  /**
   * Starts, processes what is committed in the source topics now, tells final results, commits and closes. Records that come later are left to the next run, which goes on
   * where this one stopped, also after a crash. With several instances each stops when the whole group has come to the ends that it saw itself.
   *
   * @throws what `start` and `close` throw; what stopped the app before the end; MILL_STATE_INVALID when it was closed before
   */
  async runUntilEnd(options: RunUntilEndOptions = {}): Promise<RunSummary> {
    return runBounded(
      {
        onState: (listener) => this.on('state', listener),
        onError: (listener) => this.on('error', listener),
        begin: async (end) => {
          if (this.currentState === 'created') this.bounds = end;
          await this.start();
          return this.run === null || this.built === null ? null : { run: this.run, built: this.built };
        },
        close: (timeout) => (this.bounds === null ? Promise.resolve() : this.close({ timeout })),
        failure: () => this.failure,
        metrics: () => this.metrics(),
      },
      options,
    );
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Who runs which tasks, and keeps copies of which, as of the last assignment of the group. */
  groupView(): GroupView {
    return this.view;
  }

  /** Counters and latencies as plain data, measured now. */
  metrics(): AppMetrics {
    return snapshotMetrics(this.currentState, this.built, this.globals?.metrics ?? null);
  }

  /**
   * What holds the watermark of an operator back, in each of its tasks on this instance: which partition or upstream task, since when, and why.
   *
   * @param operator a node of the topology; default: all
   * @throws MILL_CONFIG_INVALID when the topology has no such node
   * @example
   * console.log(app.explainWatermark('mean').text);
   */
  explainWatermark(operator?: string): WatermarkExplanation {
    const tasks = [...(this.built?.thread.tasks.values() ?? [])].map(({ task }) => task);
    return explainWatermarks(this.topology, tasks, operator ?? null, Date.now());
  }

  private async startParts(): Promise<void> {
    const { config, topology, logger } = this;
    const { applicationId } = config;
    const directory = await this.platform.openDirectory({ stateDir: config.stateDir, applicationId });
    this.directory = directory;
    this.mustBeStarting();
    const localState = await LocalState.read(directory, logger);
    this.mustBeStarting();
    const [main, restore] = [this.openPort('main'), this.openPort('restore')];
    await this.unlessEnded(Promise.all([main.connect(), restore.connect()]));
    await this.unlessEnded(this.serdes.prepare(topology, (name, internal) => qualifiedName(applicationId, { name, internal })));
    await this.unlessEnded(
      prepareTopics({
        port: main,
        topology,
        applicationId,
        replicationFactor: config.replicationFactor,
        deadLetterTopic: config.deadLetterTopic,
        logger,
      }),
    );
    const { clusterId } = await this.unlessEnded(main.metadata([]));
    const isolation = config.processingGuarantee === 'exactly_once' ? 'read_committed' : 'read_uncommitted';
    if (this.bounds !== null) {
      const parts = { port: main, applicationId, topology, isolation, end: this.bounds, logger } as const;
      this.run = await this.unlessEnded(BoundedRun.begin(parts));
    }
    await this.unlessEnded(this.openGlobals());
    const built = buildThread(
      {
        applicationId,
        topology,
        index: 0,
        exactlyOnce: config.processingGuarantee === 'exactly_once',
        commitInterval: config.commitInterval,
        maxUncommittedBytes: config.maxUncommittedBytes,
        maxBufferedBytes: config.maxBufferedBytes,
        cacheBytes: config.statestoreCacheMaxBytes,
        maxTaskIdleMs: config.maxTaskIdleMs,
        defaultEmit: config.emit,
        autoOffsetReset: config.autoOffsetReset,
        storeEngine: config.storeEngine,
        sessionTimeout: config.sessionTimeout,
        heartbeatInterval: config.heartbeatInterval,
        rebalanceTimeout: config.rebalanceTimeout,
        transactionTimeout: config.transactionTimeout,
        // Half of what a transaction may last is left for the commit.
        errors: errorPolicy(config, config.transactionTimeout / 2),
        processorWrapper: config.processorWrapper,
        serdes: this.serdes,
        logger,
        stateDirectory: directory,
        localState,
        applicationServer: config.applicationServer,
        clientTags: config.clientTags,
        groupInstanceId: config.groupInstanceId,
        assignor: typeof config.assignor === 'string' ? builtInAssignor(config.assignor) : config.assignor,
        assignment: {
          numStandbyReplicas: config.numStandbyReplicas,
          acceptableRecoveryLag: config.acceptableRecoveryLag,
          maxWarmupReplicas: config.maxWarmupReplicas,
          rackAwareTags: config.rackAwareTags,
        },
        probingRebalanceInterval: config.probingRebalanceInterval,
        clusterId,
        restoreListener: this.restoreListener,
        standbyListener: this.standbyListener,
        globalStore: (name) => this.globals?.store(name),
        endOf: (topic, partition) => this.run?.endOf(topic, partition),
      },
      { main, restore, standby: () => this.openStandbyPort() },
      {
        onActivity: (activity) => {
          if (this.currentState === 'running' || this.currentState === 'rebalancing') this.become(activity);
        },
        onError: (error, restart) => {
          this.decide(error, restart);
        },
        onFatal: (error) => {
          this.fail(error);
        },
        onGroupView: (view) => {
          this.view = view;
          this.emitting(() => this.events.emit('group', view));
        },
      },
    );
    this.built = built;
    await this.unlessEnded(built.producer.init());
    built.thread.start();
    await this.unlessEnded(built.member.start());
    built.chores.start();
  }

  /** A step of the start must not hold a shutdown up, and nothing is opened after it. */
  private async unlessEnded<T>(step: Promise<T>): Promise<T> {
    const result = await Promise.race([step, this.startEnded]);
    this.mustBeStarting();
    return result;
  }

  private mustBeStarting(): void {
    if (this.currentState !== 'rebalancing' && this.currentState !== 'running')
      throw new MillraceError('MILL_STATE_INVALID', `the start ended because the app is ${this.currentState}`);
  }

  private openPort(purpose: string): KafkaPort {
    const { config } = this;
    const port = this.platform.openPort(
      {
        brokers: config.bootstrapServers,
        clientId: `${config.clientId}-${purpose}`,
        ssl: config.ssl,
        sasl: config.sasl,
        requestTimeoutMs: config.requestTimeout,
      },
      this.logger,
    );
    this.ports.push(port);
    return port;
  }

  private async openStandbyPort(): Promise<KafkaPort> {
    const port = this.openPort('standby');
    await port.connect();
    return port;
  }

  private async openGlobals(): Promise<void> {
    if (this.topology.globalStores.size === 0) return;
    const port = this.openPort('global');
    await port.connect();
    this.mustBeStarting();
    this.globals = new GlobalTables({
      applicationId: this.config.applicationId,
      port,
      topology: this.topology,
      isolation: this.config.processingGuarantee === 'exactly_once' ? 'read_committed' : 'read_uncommitted',
      serdes: this.serdes,
      errors: errorPolicy(this.config, Infinity),
      processorWrapper: this.config.processorWrapper,
      logger: this.logger,
      onError: (error) => {
        this.decide(error, null);
      },
    });
    await this.globals.start();
  }

  /** `restart` null: what failed can't be replaced (a global table, as in Kafka Streams), whatever the handler says. */
  private decide(cause: unknown, restart: (() => void) | null): void {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    if (this.ending !== null) {
      this.logger.error({ err: error }, `error during the shutdown, which goes on without a commit: ${error.message}`);
      this.built?.thread.stop(false).catch(() => undefined);
      return;
    }
    let answer: UncaughtErrorAnswer = 'shutdownClient';
    try {
      answer = this.uncaughtErrorHandler(error);
    } catch (thrown) {
      this.logger.error({ error: String(thrown) }, 'the uncaught-error handler itself failed; the app stops');
    }
    this.logger.error({ err: error, answer }, `uncaught error: ${error.message}`);
    if (answer === 'replaceThread' && restart !== null) {
      this.tell(error);
      restart();
    } else this.fail(error);
  }

  private fail(error: Error): void {
    if (this.failure !== null || this.closing !== null) return;
    this.failure = error;
    if (this.currentState === 'notRunning' || this.currentState === 'error') return;
    this.become('pendingError');
    // Its faults are in the log; what close() waits for is only the end.
    this.closing = this.shutDown('error', false).catch(() => undefined);
    this.tell(error);
  }

  private tell(error: Error): void {
    if (this.events.listenerCount('error') > 0) {
      this.emitting(() => this.events.emit('error', error));
      return;
    }
    // Nobody listens: an app that stopped must not look like one that ended well.
    console.error(error);
    if (this.failure !== null) process.exitCode ??= 1;
  }

  /** A listener that throws must not harm the engine that told it. */
  private emitting(emit: () => void): void {
    try {
      emit();
    } catch (error) {
      this.logger.error({ err: error }, 'a listener of the app failed');
    }
  }

  private async closeWithin(timeout: number, leaveGroup: boolean | null): Promise<void> {
    if (this.currentState === 'created') {
      this.become('notRunning');
      return;
    }
    if (this.currentState === 'notRunning' || this.currentState === 'error') return;
    this.become('pendingShutdown');
    const done = this.shutDown('notRunning', true, leaveGroup);
    const timer = new AbortController();
    const isLate = (): 'late' => 'late';
    const late = delay(timeout, timer.signal).then(isLate, isLate);
    try {
      if ((await Promise.race([done, late])) !== 'late') return;
    } finally {
      timer.abort();
    }
    await this.abandon();
    throw new MillraceError('MILL_CLOSE_TIMEOUT', `the app did not close within ${timeout} ms`);
  }

  private shutDown(end: 'notRunning' | 'error', clean: boolean, leaveGroup: boolean | null = null): Promise<void> {
    this.endStart(new MillraceError('MILL_STATE_INVALID', 'the app is being shut down'));
    this.ending ??= this.shutDownOnce(end, clean, leaveGroup);
    return this.ending;
  }

  /** Every step happens, whatever becomes of the ones before it. Throws what failed first. */
  private async shutDownOnce(end: 'notRunning' | 'error', clean: boolean, leaveGroup: boolean | null): Promise<void> {
    const faults: unknown[] = [];
    const step = async (work: () => Promise<unknown> | undefined): Promise<void> => {
      try {
        await work();
      } catch (error) {
        faults.push(error);
        this.logger.error({ err: error }, 'a part of the app failed to close');
      }
    };
    const { built } = this;
    if (built !== null) {
      built.chores.stop();
      built.leader.cancelProbe();
      if (clean) await step(() => built.member.leave(leaveGroup));
      await step(() => built.thread.stop(clean));
      if (!clean) await step(() => built.member.leave());
    }
    await step(() => this.globals?.close());
    await step(() => Promise.all(this.ports.map((port) => port.close())));
    await this.starting?.catch(() => undefined);
    await step(() => this.directory?.release());
    this.become(end);
    if (faults.length > 0) throw faults[0];
  }

  /** Lets go of everything without waiting for it: the group and the broker notice by their timeouts. */
  private async abandon(): Promise<void> {
    const { built } = this;
    built?.chores.stop();
    built?.leader.cancelProbe();
    built?.member.stop();
    const stopped = Promise.allSettled([built?.thread.stop(false), this.globals?.close()]);
    await Promise.race([stopped, delay(abandonWithinMs)]);
    await Promise.allSettled(this.ports.map((port) => port.close()));
    await this.directory?.release();
    this.become('notRunning');
  }

  private become(state: StreamsState): void {
    const old = this.currentState;
    if (old === state || old === 'notRunning' || old === 'error') return;
    this.currentState = state;
    this.logger.info({ state, from: old }, 'state changed');
    this.emitting(() => this.events.emit('state', state, old));
  }
}
