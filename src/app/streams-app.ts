import { EventEmitter } from 'node:events';
import { MillraceError } from '../errors.js';
import {
  anyObject,
  callback,
  flag,
  milliseconds,
  oneOf,
  requireArgument,
  requireOptions,
  type ShapeOf,
} from '../errors/checked-options.js';
import { delay } from '../kafka/backoff.js';
import type { Logger } from '../observability/logger.js';
import { emptyGroupView, type GroupView } from '../rebalance/group-view.js';
import { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StandbyUpdateListener } from '../runtime/standby-listener.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { RestoreListener } from '../runtime/state-restorer.js';
import { checkTopology } from '../topology/checked-topology.js';
import type { Topology } from '../topology/nodes.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { StoreReads } from '../queries/store-reads.js';
import { nextState } from './next-state.js';
import { handoverShare, type AppEngine, type EngineParts, type ThreadPool } from './app-engine.js';
import { StoreAccess } from './store-access.js';
import { runBounded, type RunSummary, type RunUntilEndOptions } from './run-until-end.js';
import type { AppMetrics } from './app-metrics.js';
import { LocalEngine } from './local-engine.js';
import { realPlatform, type AppPlatform } from './app-platform.js';
import { comparedResultFaults } from './compared-results.js';
import { reusedSourceTopicFaults } from './reused-source-topics.js';
import { resolveConfig, type StreamsConfig } from './config.js';
import { exhausted, Restarts } from './restarts.js';
import { mustBeRunnable } from './start-checks.js';
import { StateCleaning } from './state-cleaning.js';
import { loadApp } from './load-app.js';
import { UncaughtErrors, type UncaughtErrorHandler } from './uncaught-errors.js';

/**
 * `created` → `rebalancing` ⇄ `running` → `pendingShutdown` → `notRunning`; after an error that stops the app `pendingError` → `error`. The states of Kafka
 * Streams.
 */
export type StreamsState = 'created' | 'rebalancing' | 'running' | 'pendingShutdown' | 'notRunning' | 'pendingError' | 'error';

/** How long the group may take to hear that all are to stop, ms: a rebalance. */
const toldWithinMs = 30_000;

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

/** For `app.removeThread`. */
export interface RemoveThreadOptions {
  /**
   * Milliseconds from the thread's turn on: threads come and go one after the other. Default 30 000. After it the thread ends without having committed what is open
   * (MILL_CLOSE_TIMEOUT).
   */
  readonly timeout?: number;
}

const removeShape = { timeout: milliseconds } satisfies ShapeOf<RemoveThreadOptions>;
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

const eventName = oneOf(...Object.keys({ state: true, error: true, group: true } satisfies Record<keyof StreamsAppEvents, true>));

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
  private readonly uncaughtErrors = new UncaughtErrors();
  private readonly topology: Topology;
  private readonly restarts: Restarts;
  private readonly engine: AppEngine;
  private ending: Promise<void> | null = null;
  private closing: Promise<void> | null = null;
  private readonly cleaning: StateCleaning;
  private failure: Error | null = null;
  /** Why this instance has asked all to stop. */
  private endsWith: Error | null = null;
  private view = emptyGroupView;
  protected readonly queries: StoreReads;
  /** How the run of `runUntilEnd` ends. */
  private bounds: InputEnd | null = null;

  /**
   * @param platform for tests: what stands in for sockets and files
   * @throws MILL_CONFIG_INVALID with every fault of the configuration and every node without a serde; MILL_TOPOLOGY_INVALID when the topology was not built
   */
  constructor(topology: Topology, config: StreamsConfig, platform: AppPlatform = realPlatform) {
    checkTopology(topology, 'StreamsApp');
    super();
    const resolved = resolveConfig(config);
    this.cleaning = new StateCleaning(platform, resolved);
    if (resolved.threads > 1 && platform.openEngine === undefined) {
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `threads: ${resolved.threads} needs the topology as a module, which each thread imports: await StreamsApp.fromModule(new URL('./topology.js', import.meta.url), config)`,
      );
    }
    this.topology = topology;
    this.logger = resolved.logger;
    this.restarts = new Restarts(resolved.restart, resolved.logger);
    const serdes = new SerdeDefaults(resolved.defaultKeySerde, resolved.defaultValueSerde);
    const parts: EngineParts = {
      topology,
      config: resolved,
      serdes,
      platform: this.cleaning.platform,
      listener: {
        onActivity: (activity) => {
          if (this.currentState === 'running' || this.currentState === 'rebalancing') this.become(activity);
        },
        onError: (error, restart) => {
          this.decide(error, restart);
        },
        onFatal: (error) => {
          this.fail(this.endsWith ?? error);
        },
        onGroupView: (view) => {
          this.view = view;
          this.emitting(() => this.events.emit('group', view));
        },
      },
      state: () => this.currentState,
      groupView: () => this.view,
    };
    this.engine = platform.openEngine?.(parts) ?? new LocalEngine(parts);
    this.queries = this.engine.queries;
    const faults = [
      ...serdes.missing(topology),
      ...reusedSourceTopicFaults(topology, resolved),
      ...comparedResultFaults(topology, resolved.processingGuarantee),
    ];
    if (faults.length > 0) throw new MillraceError('MILL_CONFIG_INVALID', faults.join('; '), { details: { faults } });
  }

  /**
   * An app whose topology is a module of its own: what `threads` above 1 need, since every thread imports it. With one thread it is as if the module's topology were given to the constructor.
   *
   * @param module `new URL('./topology.js', import.meta.url)`, or an absolute path; see `TopologyModule` for what it exports
   * @param config what the module's export `config` does not give. With several threads it must be plain data: functions, and serdes, come from the module; a logger and listeners may be given
   * @throws MILL_CONFIG_INVALID also when the module can't be imported or is none; otherwise as the constructor; what the module's function throws
   * @example
   * ```ts
   * const app = await StreamsApp.fromModule(new URL('./topology.js', import.meta.url), {
   *   applicationId: 'word-count',
   *   bootstrapServers: 'localhost:9092',
   *   threads: 4,
   * });
   * await app.start();
   * ```
   */
  static async fromModule(module: URL | string, config: StreamsConfig): Promise<StreamsApp> {
    const loaded = await loadApp(module, config);
    return new StreamsApp(loaded.topology, loaded.config, loaded.platform);
  }

  /** Where the app stands; `on('state', …)` tells of changes. */
  get state(): StreamsState {
    return this.currentState;
  }

  /** `state` (new, old), `error` and `group`. Returns a function that takes the listener away. @throws MILL_CONFIG_INVALID */
  on<E extends keyof StreamsAppEvents>(event: E, listener: (...args: StreamsAppEvents[E]) => void): () => void {
    requireArgument('on: the event', event, eventName, 'MILL_CONFIG_INVALID');
    requireArgument('on: the listener', listener, callback, 'MILL_CONFIG_INVALID');
    const untyped = listener as (...args: unknown[]) => void;
    this.events.on(event, untyped as never);
    return () => {
      this.events.off(event, untyped as never);
    };
  }

  /** Told of every store that is restored, with progress and time left. Set it before `start`. */
  setRestoreListener(listener: RestoreListener): void {
    requireArgument('setRestoreListener: the listener', listener, anyObject, 'MILL_CONFIG_INVALID');
    this.restoreListener = listener;
  }

  /** Told of every standby on this instance, as its stores follow their changelogs. Set it before `start`. */
  setStandbyUpdateListener(listener: StandbyUpdateListener): void {
    requireArgument('setStandbyUpdateListener: the listener', listener, anyObject, 'MILL_CONFIG_INVALID');
    this.standbyListener = listener;
  }

  /**
   * Asked after an error that Millrace can't mend; its answer can't wait (no promise). One that fails, or answers anything else, stops the app, and the error says so. Default:
   * `replaceThread` with the option `restart`, `shutdownClient` without.
   *
   * @throws MILL_CONFIG_INVALID
   */
  setUncaughtErrorHandler(handler: UncaughtErrorHandler): void {
    this.uncaughtErrors.setHandler(handler);
  }

  /**
   * Checks topics, creates internal ones, joins the group and begins to work. Resolves when the group has given this instance its tasks; restoring them goes on in the
   * background (`state` becomes `running` at its end).
   *
   * @throws MILL_BROKER_UNREACHABLE, MILL_BROKER_TOO_OLD, MILL_TOPIC_MISSING, MILL_TOPIC_INCOMPATIBLE, MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_AUTHORIZATION,
   * MILL_STORE_DIRECTORY_LOCKED, MILL_GROUP_FATAL, MILL_INSTANCE_FENCED, MILL_ASSIGNOR_INVALID, MILL_STATE_INVALID; MILL_TOPOLOGY_INVALID when the topology is empty, or was built for batch mode
   */
  async start(): Promise<void> {
    if (this.currentState !== 'created')
      throw new MillraceError('MILL_STATE_INVALID', `start() needs state created, the app is ${this.currentState}`);
    this.cleaning.mustBeOver();
    mustBeRunnable(this.topology, this.bounds);
    this.become('rebalancing');
    const { restoreListener, standbyListener, bounds } = this;
    try {
      await this.engine.open({ restoreListener, standbyListener, bounds });
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
    const { timeout = 30_000, leaveGroup = null } = options;
    if (this.endsWith !== null && this.failure === null) {
      // The group is to hear that the application stops; then this instance ends with its error.
      await nextState(this.events, handoverShare * timeout);
      this.fail(this.endsWith);
    }
    this.closing ??= this.closeWithin(timeout, leaveGroup);
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
          return this.engine.bounded();
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
    return this.engine.isPaused;
  }

  private setPaused(paused: boolean, call: string): void {
    const { currentState: state } = this;
    if (state !== 'created' && state !== 'rebalancing' && state !== 'running')
      throw new MillraceError('MILL_STATE_INVALID', `${call}() needs an app that runs or is to start, this one is ${state}`);
    if (this.engine.isPaused === paused) return;
    this.engine.isPaused = paused;
    this.logger.info({ state }, paused ? 'paused' : 'resumed');
  }

  /**
   * Deletes the local state of this instance's tasks, before `start()` or after the end: the next start restores it whole from the changelogs. What is committed in Kafka stays as it is, and so does the
   * instance's identity, by which a restart aborts what a crash left open. Without a `stateDir` it is the folder that this app used, or that the next one would.
   *
   * @throws MILL_STATE_INVALID while the app runs; MILL_STORE_DIRECTORY_LOCKED when another process uses the directory; MILL_STORE_IO
   */
  async cleanUp(): Promise<void> {
    await this.cleaning.run(this.currentState);
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Begins one more stream thread; resolves with its index when the group has given it its tasks. Only for an app with `threads` above 1. What it was begun for is not remembered: a restart has `threads` again.
   *
   * @throws MILL_STATE_INVALID when the app does not run, or runs its one thread in the caller's; and as `start`
   */
  async addThread(): Promise<number> {
    return this.threadPool('addThread').add();
  }

  /**
   * Commits what the stream thread with the highest index has processed, gives its tasks to the others and ends it; resolves with its index.
   *
   * @throws MILL_STATE_INVALID when it is the last one, when the app does not run, or runs its one thread in the caller's; MILL_CLOSE_TIMEOUT when it did not end in time: it is gone then, too,
   * and what it had not committed is processed again; MILL_CONFIG_INVALID for an option that there is not
   */
  async removeThread(options: RemoveThreadOptions = {}): Promise<number> {
    requireOptions('removeThread', options, removeShape, 'MILL_CONFIG_INVALID');
    return this.threadPool('removeThread').remove(options.timeout ?? 30_000);
  }

  /** Who runs which tasks, and keeps copies of which, as of the last assignment of the group. */
  groupView(): GroupView {
    return this.view;
  }

  /** Counters and latencies as plain data, measured now; of several threads as they last told, which they do twice a second and soon after each call of this. */
  metrics(): AppMetrics {
    return this.engine.metrics({ state: this.currentState, paused: this.isPaused, restarts: this.restarts.snapshot() });
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
    return this.engine.explainWatermark(operator ?? null);
  }

  private threadPool(what: string): ThreadPool {
    const { threads } = this.engine;
    if (threads === null)
      throw new MillraceError(
        'MILL_STATE_INVALID',
        `${what}() needs an app with \`threads\` above 1: this one runs in the thread of its caller`,
      );
    if (this.currentState !== 'running' && this.currentState !== 'rebalancing')
      throw new MillraceError('MILL_STATE_INVALID', `${what}() needs an app that runs, this one is ${this.currentState}`);
    return threads;
  }

  /** `restart` null: what failed can't be replaced, whatever the handler says. */
  private decide(cause: unknown, restart: ((pauseMs: number) => void) | null): void {
    const failed = cause instanceof Error ? cause : new Error(String(cause));
    if (this.ending !== null) {
      this.logger.error({ err: failed }, `error during the shutdown, which goes on without a commit: ${failed.message}`);
      this.engine.giveUpCommit();
      return;
    }
    const { answer: wanted, error } = this.uncaughtErrors.decide(failed, this.restarts.areOn ? 'replaceThread' : 'shutdownClient');
    const answer = this.restarts.failed(error, wanted === 'replaceThread' && restart !== null);
    if (answer.kind === 'restart') {
      this.tell(error);
      restart?.(answer.delayMs);
    } else if (wanted === 'shutdownApplication') this.failEverywhere(error);
    else this.fail(answer.kind === 'giveUp' ? exhausted(error, answer) : error);
  }

  /** Ends with the error once the group has been told, or can't be. */
  private failEverywhere(error: Error): void {
    this.endsWith = error;
    this.become('pendingError');
    if (!this.engine.shutDownApplication(error.message)) {
      this.fail(error);
      return;
    }
    setTimeout(() => {
      if (this.failure !== null || this.closing !== null) return;
      this.logger.error(
        { err: error },
        `the group did not hear within ${toldWithinMs} ms that the application is to stop; this instance does`,
      );
      this.fail(error);
    }, toldWithinMs).unref();
  }

  private fail(error: Error): void {
    if (this.failure !== null || this.closing !== null) return;
    this.failure = error;
    if (this.currentState === 'notRunning' || this.currentState === 'error') return;
    // Its faults are in the log; what close() waits for is only the end, also when a listener of the state calls it.
    this.closing = this.shutDown('error', false).catch(() => undefined);
    this.become('pendingError');
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
    const done = this.shutDown('notRunning', true, leaveGroup, handoverShare * timeout);
    const timer = new AbortController();
    const isLate = (): 'late' => 'late';
    const late = delay(timeout, timer.signal).then(isLate, isLate);
    try {
      if ((await Promise.race([done, late])) !== 'late') return;
    } finally {
      timer.abort();
    }
    await this.engine.abandon();
    this.become('notRunning');
    throw new MillraceError('MILL_CLOSE_TIMEOUT', `the app did not close within ${timeout} ms`);
  }

  private shutDown(end: 'notRunning' | 'error', clean: boolean, leaveGroup: boolean | null = null, handoverMs = 0): Promise<void> {
    this.ending ??= this.engine.close(clean, leaveGroup, handoverMs).finally(() => {
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
