import { EventEmitter } from 'node:events';
import { MillraceError } from '../errors.js';
import { flag, milliseconds, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { delay } from '../kafka/backoff.js';
import type { Logger } from '../observability/logger.js';
import { emptyGroupView, type GroupView } from '../rebalance/group-view.js';
import { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StandbyUpdateListener } from '../runtime/standby-listener.js';
import { explainWatermarks } from '../runtime/explain-watermarks.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { RestoreListener } from '../runtime/state-restorer.js';
import { checkTopology } from '../topology/checked-topology.js';
import type { Topology } from '../topology/nodes.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import { StoreQueries } from '../queries/store-queries.js';
import { AppParts } from './app-parts.js';
import { AppQueryHost } from './app-query-host.js';
import { StoreAccess } from './store-access.js';
import { runBounded, type RunSummary, type RunUntilEndOptions } from './run-until-end.js';
import { snapshotMetrics, type AppMetrics } from './app-metrics.js';
import { realPlatform, type AppPlatform } from './app-platform.js';
import { comparedResultFaults } from './compared-results.js';
import { reusedSourceTopicFaults } from './reused-source-topics.js';
import { resolveConfig, type StreamsConfig } from './config.js';
import { exhausted, Restarts } from './restarts.js';

/**
 * `created` → `rebalancing` ⇄ `running` → `pendingShutdown` → `notRunning`; after an error that stops the app `pendingError` → `error`. The states of Kafka
 * Streams.
 */
export type StreamsState = 'created' | 'rebalancing' | 'running' | 'pendingShutdown' | 'notRunning' | 'pendingError' | 'error';

/** What to do after an error that Millrace can't mend by itself: go on from the last commit, as far and as soon as the option `restart` allows, or stop this app. */
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

const closeShape = { timeout: milliseconds, leaveGroup: flag } satisfies ShapeOf<CloseOptions>;

/** What `app.on` tells of: the arguments of a listener by event. */
export interface StreamsAppEvents {
  /** New state, old state. */
  state: [StreamsState, StreamsState];
  /** An error that stopped the app, or that the uncaught-error handler let pass. */
  error: [Error];
  /** The group has assigned tasks anew, this instance's or others'. */
  group: [GroupView];
}

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
  /** The logger of the configuration; without one it drops everything. */
  readonly logger: Logger;
  private readonly events = new EventEmitter<StreamsAppEvents>();
  private currentState: StreamsState = 'created';
  private restoreListener: RestoreListener = {};
  private standbyListener: StandbyUpdateListener = {};
  /** Null: the option `restart` decides alone. */
  private uncaughtErrorHandler: UncaughtErrorHandler | null = null;
  private readonly restarts: Restarts;
  private readonly parts: AppParts;
  private ending: Promise<void> | null = null;
  private closing: Promise<void> | null = null;
  private failure: Error | null = null;
  private view = emptyGroupView;
  protected readonly queries: StoreQueries;
  /** How the run of `runUntilEnd` ends. */
  private bounds: InputEnd | null = null;

  /**
   * @param platform for tests: what stands in for sockets and files
   * @throws MILL_CONFIG_INVALID with every fault of the configuration and every node without a serde; MILL_TOPOLOGY_INVALID when the topology was not built
   */
  constructor(
    private readonly topology: Topology,
    config: StreamsConfig,
    platform: AppPlatform = realPlatform,
  ) {
    checkTopology(topology, 'StreamsApp');
    super();
    const resolved = resolveConfig(config);
    this.logger = resolved.logger;
    this.restarts = new Restarts(resolved.restart, resolved.logger);
    const serdes = new SerdeDefaults(resolved.defaultKeySerde, resolved.defaultValueSerde);
    this.parts = new AppParts(topology, resolved, serdes, platform, {
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
    });
    this.queries = new StoreQueries(
      new AppQueryHost({
        topology,
        serdes,
        state: () => this.currentState,
        built: () => this.parts.built,
        globals: () => this.parts.globals,
        groupView: () => this.view,
        processId: () => this.parts.directory?.processId ?? null,
      }),
    );
    const faults = [
      ...serdes.missing(topology),
      ...reusedSourceTopicFaults(topology, resolved.deserializationHandler),
      ...comparedResultFaults(topology, resolved.processingGuarantee),
    ];
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

  /** Asked after an error that Millrace can't mend. Default: `replaceThread` with the option `restart`, `shutdownClient` without. */
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
    const { restoreListener, standbyListener, bounds } = this;
    try {
      await this.parts.open({ restoreListener, standbyListener, bounds });
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
   * @throws MILL_CLOSE_TIMEOUT; MILL_STORE_IO when the local state could not be written (its changelog has it); the app is stopped then, too, and what was not committed is processed again by the next owner. MILL_CONFIG_INVALID for an option that there is not: the app runs on
   */
  async close(options: CloseOptions = {}): Promise<void> {
    requireOptions('close', options, closeShape, 'MILL_CONFIG_INVALID');
    this.closing ??= this.closeWithin(options.timeout ?? 30_000, options.leaveGroup ?? null);
    return this.closing;
  }

  /**
   * Starts, processes what is committed in the source topics now, tells final results, commits and closes. Records that come later are left to the next run, which goes on
   * where this one stopped, also after a crash. With several instances each stops when the whole group has come to the ends that it saw itself.
   *
   * @throws what `start` and `close` throw; what stopped the app before the end; MILL_STATE_INVALID when it was closed before; MILL_CONFIG_INVALID for an option that
   * there is not, before anything starts
   */
  async runUntilEnd(options: RunUntilEndOptions = {}): Promise<RunSummary> {
    return runBounded(
      {
        onState: (listener) => this.on('state', listener),
        onError: (listener) => this.on('error', listener),
        begin: async (end) => {
          if (this.currentState === 'created') this.bounds = end;
          await this.start();
          const { run, built } = this.parts;
          return run === null || built === null ? null : { run, built };
        },
        close: (timeout) => (this.bounds === null ? Promise.resolve() : this.close({ timeout })),
        failure: () => this.failure,
        metrics: () => this.metrics(),
      },
      options,
    );
  }

  /**
   * From now on this instance's tasks take no records and fire no timers, until `resume()`. It stays in the group with its tasks, whose stores can be read; what was processed before is committed, copies of other
   * tasks, restores and global tables go on, `state` says nothing of it. Other instances are not paused, and a restart forgets it. Before `start()` too: the app then begins paused.
   *
   * @throws MILL_STATE_INVALID when the app is ending or has ended
   */
  pause(): void {
    this.setPaused(true, 'pause');
  }

  /**
   * Goes on after `pause()`. Timers that were due meanwhile fire once.
   *
   * @throws MILL_STATE_INVALID when the app is ending or has ended
   */
  resume(): void {
    this.setPaused(false, 'resume');
  }

  /** Whether `pause()` was called, and `resume()` not since. */
  get isPaused(): boolean {
    return this.parts.isPaused;
  }

  private setPaused(paused: boolean, call: string): void {
    const { currentState: state } = this;
    if (state !== 'created' && state !== 'rebalancing' && state !== 'running')
      throw new MillraceError('MILL_STATE_INVALID', `${call}() needs an app that runs or is to start, this one is ${state}`);
    if (this.parts.isPaused === paused) return;
    this.parts.isPaused = paused;
    this.logger.info({ state }, paused ? 'paused' : 'resumed');
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
    const own = { state: this.currentState, paused: this.isPaused, restarts: this.restarts.snapshot() };
    return snapshotMetrics(own, this.parts.built, this.parts.globals?.metrics ?? null);
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
    const tasks = [...(this.parts.built?.thread.tasks.values() ?? [])].map(({ task }) => task);
    return explainWatermarks(this.topology, tasks, operator ?? null, Date.now());
  }

  /** `restart` null: what failed can't be replaced, whatever the handler says. */
  private decide(cause: unknown, restart: ((pauseMs: number) => void) | null): void {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    if (this.ending !== null) {
      this.logger.error({ err: error }, `error during the shutdown, which goes on without a commit: ${error.message}`);
      this.parts.built?.thread.stop(false).catch(() => undefined);
      return;
    }
    const isWanted = this.answerTo(error) === 'replaceThread' && restart !== null;
    const answer = this.restarts.failed(error, isWanted);
    if (answer.kind === 'restart') {
      this.tell(error);
      restart?.(answer.delayMs);
    } else this.fail(answer.kind === 'giveUp' ? exhausted(error, answer) : error);
  }

  private answerTo(error: Error): UncaughtErrorAnswer {
    if (this.uncaughtErrorHandler === null) return this.restarts.areOn ? 'replaceThread' : 'shutdownClient';
    try {
      return this.uncaughtErrorHandler(error);
    } catch (thrown) {
      this.logger.error({ error: String(thrown) }, 'the uncaught-error handler itself failed; the app stops');
      return 'shutdownClient';
    }
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
    await this.parts.abandon();
    this.become('notRunning');
    throw new MillraceError('MILL_CLOSE_TIMEOUT', `the app did not close within ${timeout} ms`);
  }

  private shutDown(end: 'notRunning' | 'error', clean: boolean, leaveGroup: boolean | null = null): Promise<void> {
    this.ending ??= this.parts.close(clean, leaveGroup).finally(() => {
      this.become(end);
    });
    return this.ending;
  }

  private become(state: StreamsState): void {
    const old = this.currentState;
    if (old === state || old === 'notRunning' || old === 'error') return;
    this.currentState = state;
    this.logger.info({ state, from: old }, 'state changed');
    this.emitting(() => this.events.emit('state', state, old));
  }
}
