import { MillraceError } from '../../errors.js';
import { delay } from '../../kafka/backoff.js';
import { silentLogger } from '../../observability/logger.js';
import { checkOperator } from '../../runtime/explain-watermarks.js';
import { watermarkExplanation, type WatermarkExplanation } from '../../runtime/watermark-explanation.js';
import type { GroupView } from '../../rebalance/group-view.js';
import { parseTaskId } from '../../rebalance/task-id.js';
import type { InstanceDirectory } from '../../stores/state-directory.js';
import { qualifiedName } from '../../topology/task-layout.js';
import { topologyFingerprint } from '../../topology/fingerprint.js';
import { storesOf } from '../../topology/stores-of.js';
import {
  handoverShare,
  type AppEngine,
  type BoundedWork,
  type EndOffsets,
  type EngineParts,
  type StartOptions,
  type ThreadPool,
} from '../app-engine.js';
import type { AppMetrics, OwnMetrics } from '../app-metrics.js';
import type { StreamsConfig } from '../config.js';
import { logReceived } from './bridged-logger.js';
import { mergedMetrics, withEnded } from './merged-metrics.js';
import { RestingThreads } from './resting-threads.js';
import { receiveError } from './sent-error.js';
import { EngineMemory } from '../../stores/engine-memory.js';
import { EngineClaims } from './engine-claims.js';
import { TaskClaims } from './task-claims.js';
import { ThreadsQueries } from './threads-queries.js';
import { ThreadsQueryHost } from './threads-query-host.js';
import type { RestoreEvent, StandbyEvent, ThreadReport, ThreadSetup, ThreadStart } from './thread-protocol.js';
import { WorkerThread } from './worker-thread.js';

export interface ThreadedParts extends EngineParts {
  /** URL of the topology module. */
  readonly module: string;
  /** The caller's options as threads are told them. */
  readonly sent: StreamsConfig;
}

/** Threads tell how they stand more often than that. Counted by a timer of this thread, so that a process that was frozen blames nobody, ms. */
const beatMs = 1_000;
/** Between two looks at threads that were replaced during a bounded run, ms. */
const lookAgainMs = 50;
const restoreEvents: readonly RestoreEvent[] = ['onStart', 'onBatch', 'onEnd'];
const standbyEvents: readonly StandbyEvent[] = ['onUpdateStart', 'onBatch', 'onUpdateSuspended'];

/**
 * Several stream threads, each in a worker with a group member, a transactional producer and tasks of its own. What they share is kept here: the lock of the state
 * directory, who has which task's folder, and the app's view of all of them.
 *
 * Invariants: a folder has one user (`TaskClaims`), also when a worker dies; once `close` is called no worker is begun; every worker is ended when `close` or `abandon` has.
 */
export class ThreadedEngine implements AppEngine, ThreadPool {
  readonly queries: ThreadsQueries;
  readonly threads: ThreadPool = this;
  private readonly workers = new Map<number, WorkerThread>();
  private readonly activities = new Map<number, 'rebalancing' | 'running'>();
  /** Of workers that are gone, as last told. */
  private ended: AppMetrics | null = null;
  private readonly resting = new RestingThreads();
  private readonly claims: TaskClaims;
  private readonly engines: EngineClaims;
  private readonly fingerprint: string;
  private directory: InstanceDirectory | null = null;
  private options: StartOptions | null = null;
  private opening: Promise<void> | null = null;
  private lives = 0;
  private viewOf = { thread: -1, generation: -1 };
  private paused = false;
  private beats: NodeJS.Timeout | undefined;
  private changes: Promise<unknown> = Promise.resolve();
  private readonly closed = new AbortController();

  constructor(private readonly parts: ThreadedParts) {
    this.fingerprint = topologyFingerprint(parts.topology);
    this.engines = new EngineClaims(new EngineMemory(parts.config.storeEngineMaxBytes, parts.config.logger));
    this.claims = new TaskClaims(({ taskId, holder }) => {
      for (const [life, worker] of this.livesOf()) if (life !== holder) worker.tell('claimed', taskId);
    });
    const host = new ThreadsQueryHost(
      parts,
      () => this.reports(),
      () => this.directory?.processId ?? null,
    );
    this.queries = new ThreadsQueries(host, () => [...this.workers.values()].filter(({ isRunning }) => isRunning));
  }

  open(options: StartOptions): Promise<void> {
    this.options = options;
    this.beats = setInterval(() => {
      for (const worker of this.workers.values()) worker.beatsMissed++;
    }, beatMs);
    this.beats.unref();
    this.opening = this.openAll(this.parts.config.threads);
    return this.opening;
  }

  async close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<void> {
    this.closed.abort(new MillraceError('MILL_STATE_INVALID', 'the app is being shut down'));
    const faults: unknown[] = [];
    const ends = await Promise.allSettled([...this.workers.values()].map((worker) => worker.close(clean, leaveGroup, handoverMs)));
    for (const end of ends) if (end.status === 'rejected') faults.push(end.reason);
    await this.opening?.catch(() => undefined);
    // A thread that was begun as the first await here went on.
    await Promise.allSettled([...this.workers.values()].map((worker) => worker.close(false, leaveGroup, 0)));
    clearInterval(this.beats);
    await this.directory?.release();
    for (const fault of faults) this.parts.config.logger.error({ err: fault }, 'a stream thread failed to close');
    if (faults.length > 0) throw faults[0];
  }

  async abandon(): Promise<void> {
    this.closed.abort(new MillraceError('MILL_STATE_INVALID', 'the app is being shut down'));
    await Promise.allSettled([...this.workers.values()].map((worker) => worker.abandon()));
    clearInterval(this.beats);
    await this.directory?.release();
  }

  giveUpCommit(): void {
    for (const worker of this.workers.values()) worker.tell('giveUpCommit', null);
  }

  shutDownApplication(reason: string): boolean {
    const members = [...this.workers.values()].filter(({ isRunning }) => isRunning);
    for (const worker of members) worker.tell('shutDownApplication', reason);
    return members.length > 0;
  }

  get isPaused(): boolean {
    return this.paused;
  }

  set isPaused(paused: boolean) {
    this.paused = paused;
    for (const worker of this.workers.values()) worker.tell('paused', paused);
  }

  metrics(own: OwnMetrics): AppMetrics {
    for (const worker of this.workers.values()) worker.refresh();
    return mergedMetrics(
      own,
      this.reports().map(({ metrics }) => metrics),
      this.ended === null ? [] : [this.ended],
    );
  }

  explainWatermark(operator: string | null): WatermarkExplanation {
    const { topology } = this.parts;
    checkOperator(topology, operator);
    const runs = (taskId: string): boolean => {
      const { subTopology } = parseTaskId(taskId);
      return operator === null || topology.subTopologies.find(({ id }) => id === subTopology)?.nodes.includes(operator) === true;
    };
    const tasks = this.reports().flatMap(({ watermarks }) => watermarks.filter(({ taskId }) => runs(taskId)));
    return watermarkExplanation(operator, tasks, Date.now());
  }

  bounded(): BoundedWork | null {
    if ((this.options?.bounds ?? null) === null) return null;
    return { untilComplete: (signal) => this.untilComplete(signal) };
  }

  // --- threads that come and go ----------------------------------------------------------------------------------------------------

  add(): Promise<number> {
    return this.inTurn(async () => {
      let index = 0;
      while (this.workers.has(index) || this.resting.has(index)) index++;
      await this.begin(index, this.workers.size + 1);
      this.share();
      return index;
    });
  }

  remove(timeoutMs: number): Promise<number> {
    return this.inTurn(async () => {
      const { resting, workers } = this;
      const index = Math.max(...workers.keys());
      const isAlone = workers.size < 2;
      if (resting.size > 0 && workers.size > 0 && (isAlone || resting.last > index)) return this.removeResting(resting.last);
      const worker = workers.get(index);
      if (worker === undefined || isAlone)
        throw new MillraceError('MILL_STATE_INVALID', 'removeThread: this is the last stream thread; close the app instead');
      const patience = new AbortController();
      const late = delay(timeoutMs, patience.signal).then(
        () => 'late' as const,
        () => null,
      );
      try {
        if ((await Promise.race([worker.close(true, true, handoverShare * timeoutMs), late])) === 'late') {
          await worker.abandon();
          throw new MillraceError('MILL_CLOSE_TIMEOUT', `stream thread ${index} did not end within ${timeoutMs} ms`, {
            details: { thread: index },
          });
        }
      } finally {
        patience.abort();
        this.share();
      }
      return index;
    });
  }

  private removeResting(index: number): number {
    this.resting.giveUp(index);
    this.activities.delete(index);
    this.tellActivity();
    return index;
  }

  private inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.changes.then(async () => {
      this.closed.signal.throwIfAborted();
      return change();
    });
    this.changes = done.catch(() => undefined);
    return done;
  }

  private share(): void {
    for (const worker of this.workers.values()) worker.tell('shares', this.workers.size);
  }

  // --- the life of a worker --------------------------------------------------------------------------------------------------------

  private async openAll(count: number): Promise<void> {
    const { config, platform, serdes, topology } = this.parts;
    this.directory = await platform.openDirectory({
      stateDir: config.stateDir,
      applicationId: config.applicationId,
      stores: storesOf(topology),
    });
    this.closed.signal.throwIfAborted();
    // Queries decode here what threads send.
    const prepared = serdes.prepare(topology, (name, internal) => qualifiedName(config.applicationId, { name, internal }));
    await Promise.all([prepared, ...Array.from({ length: count }, (_, index) => this.begin(index, count))]);
  }

  private async begin(index: number, shares: number): Promise<void> {
    const { directory, options } = this;
    this.closed.signal.throwIfAborted();
    if (directory === null || options === null) throw new MillraceError('MILL_INVARIANT', 'a stream thread was begun before the app');
    this.activities.set(index, 'rebalancing');
    const worker = this.worker(index, shares, directory);
    this.workers.set(index, worker);
    try {
      await worker.start(startOf(options));
    } catch (error) {
      await worker.close(false, null, 0).catch(() => undefined);
      throw error;
    }
  }

  private worker(index: number, shares: number, directory: InstanceDirectory): WorkerThread {
    const { config, module, sent } = this.parts;
    const life = ++this.lives;
    const setup: ThreadSetup = {
      index,
      life,
      module,
      config: sent,
      isSilent: config.logger === silentLogger,
      directory: { root: directory.root ?? null, processId: directory.processId, memberId: directory.memberId(String(index)) },
      topologyFingerprint: this.fingerprint,
      shares,
      isPaused: this.paused,
    };
    const logger = config.logger.child({ thread: index });
    const { listener } = this.parts;
    const worker: WorkerThread = new WorkerThread({
      setup,
      name: `${config.applicationId} stream thread ${index}`,
      limits: config.threadResourceLimits,
      calls: {
        claim: async ({ taskId, ticket, openings }) => {
          this.endSilentHolder(taskId);
          const claim = { taskId, ticket, holder: life };
          const isGranted = await this.claims.claim(claim);
          // The other threads are taken to open as many.
          return isGranted ? this.engines.claim(claim, openings * this.workers.size) : null;
        },
        removeStale: ({ owned, olderThanMs }) => this.removeStale(directory, owned, olderThanMs),
        rememberMember: async (memberId) => {
          await directory.rememberMember(String(index), memberId);
          return null;
        },
      },
      events: {
        release: ({ taskId, ticket }) => {
          this.engines.release({ ticket, holder: life });
          this.claims.release({ taskId, ticket, holder: life });
        },
        activity: (activity) => this.active(index, activity),
        error: ({ error, restart }) => {
          listener.onError(
            receiveError(error),
            restart === null ? null : (pauseMs) => worker.tell('restart', { number: restart, pauseMs }),
          );
        },
        fatal: (error) => listener.onFatal(receiveError(error)),
        groupView: (view) => this.seen(index, view),
        log: (message) => logReceived(logger, message),
        restore: ({ event, progress }) => this.toListener(() => this.options?.restoreListener[event]?.(progress)),
        standby: ({ event, progress, reason }) => this.toListener(() => this.options?.standbyListener[event]?.(progress, reason)),
        report: () => undefined,
      },
      onExit: () => {
        this.engines.ended(life);
        this.claims.ended(life);
        if (worker.report !== null) this.ended = withEnded(this.ended, worker.report.metrics);
        if (this.workers.get(index) !== worker) return;
        this.workers.delete(index);
        this.activities.delete(index);
        this.tellActivity();
      },
      onCrash: (error) => {
        this.crashed(index, error);
      },
    });
    return worker;
  }

  /** Nothing is left of the thread. What it had claimed in the group is taken over by the one that comes in its place, or by others when its session ends. */
  private crashed(index: number, error: Error): void {
    if (this.closed.signal.aborted) return;
    this.activities.set(index, 'rebalancing');
    this.resting.crashed(index);
    this.parts.listener.onActivity('rebalancing');
    this.parts.listener.onError(error, (pauseMs) => {
      void this.comeBack(index, pauseMs).catch(() => undefined);
    });
  }

  /** The pause is nobody else's: only what is begun is begun in turn. */
  private async comeBack(index: number, pauseMs: number): Promise<void> {
    await this.resting.rest(index, pauseMs, this.closed.signal);
    await this.inTurn(() => this.replace(index));
  }

  private async replace(index: number): Promise<void> {
    if (!this.resting.wake(index)) return;
    try {
      await this.begin(index, this.workers.size + 1);
    } catch (error) {
      if (!this.closed.signal.aborted) this.crashed(index, error instanceof Error ? error : new Error(String(error)));
    }
  }

  // --- what threads tell -----------------------------------------------------------------------------------------------------------

  private active(index: number, activity: 'rebalancing' | 'running'): void {
    this.activities.set(index, activity);
    this.tellActivity();
  }

  private tellActivity(): void {
    if (this.activities.size === 0) return;
    const isRunning = [...this.activities.values()].every((activity) => activity === 'running');
    this.parts.listener.onActivity(isRunning ? 'running' : 'rebalancing');
  }

  /** Every thread tells of the same assignment. A group that was empty for long counts its generations from the beginning again. */
  private seen(thread: number, view: GroupView): void {
    const known = this.viewOf;
    if (view.generation === known.generation || (view.generation < known.generation && thread !== known.thread)) return;
    this.viewOf = { thread, generation: view.generation };
    this.parts.listener.onGroupView(view);
  }

  private toListener(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.parts.config.logger.warn({ error: String(error) }, 'a listener of the app failed');
    }
  }

  private async removeStale(directory: InstanceDirectory, owned: readonly string[], olderThanMs: number): Promise<readonly string[]> {
    const removed = await this.claims.alone((inUse) =>
      directory.removeStale((taskId) => owned.includes(taskId) || inUse.has(taskId), olderThanMs),
    );
    if (removed.length > 0) for (const worker of this.workers.values()) worker.tell('removed', removed);
    return removed;
  }

  private reports(): readonly ThreadReport[] {
    return [...this.workers.values()].flatMap(({ report }) => report ?? []);
  }

  /**
   * A thread that hangs in user code has lost its tasks once its session has ended, but it does not know, and keeps their folders. Who needs one of them ends it: what it does not
   * answer for is taken for dead.
   */
  private endSilentHolder(taskId: string): void {
    const holder = this.claims.holderOf(taskId);
    const worker = [...this.workers.values()].find(({ life }) => life === holder);
    const silentMs = (worker?.beatsMissed ?? 0) * beatMs;
    if (silentMs > this.parts.config.sessionTimeout)
      worker?.kill(`it did not answer for ${silentMs} ms, and another thread runs its task ${taskId} from now on`);
  }

  private livesOf(): readonly (readonly [number, WorkerThread])[] {
    return [...this.workers.values()].map((worker) => [worker.life, worker]);
  }

  // --- bounded runs ----------------------------------------------------------------------------------------------------------------

  /** Each thread waits for the whole group; one that is replaced meanwhile begins to wait anew. */
  private async untilComplete(signal: AbortSignal): Promise<EndOffsets> {
    const ended = new Promise<never>((_, reject) => {
      const abort = (): void => {
        reject(signal.reason as Error);
      };
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
    });
    ended.catch(() => undefined);
    for (;;) {
      const all = [...this.workers.values()];
      const results = await Promise.race([Promise.allSettled(all.map((worker) => worker.untilComplete())), ended]);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed === undefined && all.length > 0)
        return furthest(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
      const isCrash = failed?.reason instanceof MillraceError && failed.reason.code === 'MILL_THREAD_CRASHED';
      if (failed !== undefined && !isCrash) throw failed.reason;
      await delay(lookAgainMs, signal);
    }
  }
}

function startOf({ restoreListener, standbyListener, bounds }: StartOptions): ThreadStart {
  return {
    restoreEvents: restoreEvents.filter((event) => restoreListener[event] !== undefined),
    standbyEvents: standbyEvents.filter((event) => standbyListener[event] !== undefined),
    bounds,
  };
}

function furthest(all: readonly EndOffsets[]): EndOffsets {
  const offsets: Record<string, Record<number, number>> = {};
  for (const [topic, partitions] of all.flatMap((each) => Object.entries(each))) {
    const known = (offsets[topic] ??= {});
    for (const [partition, offset] of Object.entries(partitions))
      known[Number(partition)] = Math.max(offset, known[Number(partition)] ?? 0);
  }
  return offsets;
}
