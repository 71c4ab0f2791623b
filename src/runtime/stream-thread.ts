import { MillraceError } from '../errors.js';
import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { TimeShares } from '../observability/time-shares.js';
import type { GroupMembership } from '../rebalance/group-membership.js';
import type { MemberAssignment } from '../rebalance/member-assignment.js';
import { formatTaskId, type TaskId } from '../rebalance/task-id.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { EpochProducer } from '../transactions/producer/epoch-producer.js';
import type { ActiveTask } from './active-task.js';
import { commitInTime } from './commit-in-time.js';
import { Drains } from './drains.js';
import type { EpochRunner } from './epoch-runner.js';
import type { LongWaits } from './long-waits.js';
import { OwnedTasks } from './owned-tasks.js';
import { placesInWork, whyWaiting } from './places-in-work.js';
import { recoveryOf, recoveryPause, retryPauseOf } from './recovery.js';
import { RestartPause } from './restart-pause.js';
import type { StandbyTasks } from './standby-tasks.js';
import type { StateRestorer } from './state-restorer.js';
import type { TaskOpener } from './task-opener.js';
import type { TaskPlan } from './task-plan.js';
import { Wakeup, yieldToIo } from './wakeup.js';
import { backoffMs, delay } from '../kafka/backoff.js';

/** What happened to the thread, for the app. */
export interface ThreadListener {
  /** Tasks are being moved or restored, or everything assigned runs. */
  onActivity(activity: 'rebalancing' | 'running'): void;
  /** An error that the thread can't mend by itself. `restart` makes it go on from the last commit; its tasks rest for `pauseMs` before. */
  onError(error: unknown, restart: (pauseMs: number) => void): void;
}

export interface StreamThreadParts {
  readonly fetcher: Fetcher;
  readonly producer: EpochProducer;
  readonly restorer: StateRestorer;
  readonly opener: TaskOpener;
  readonly standbys: StandbyTasks;
  readonly planOf: (taskId: string) => Promise<TaskPlan>;
  readonly listener: ThreadListener;
  readonly logger: Logger;
  /** ms of a clock that is never set (`steady-clock.ts`). */
  readonly now: () => number;
  readonly wallClock: () => number;
  /** null without transactions. */
  readonly longWaits: LongWaits | null;
  /** How long a revocation may wait for a user function and the commit, ms. */
  readonly rebalanceTimeout: number;
  /** Committed rows that may wait for the disk, over all tasks, bytes: with more nothing is processed. */
  readonly maxDueBytes: () => number;
  /** An epoch was lost, whatever the reason. */
  readonly onEpochLost: () => void;
}

/** How long the loop runs tasks before sockets and timers get their turn, ms. */
const sliceMs = 4;
/** Longest sleep without news: a guard against a lost wake-up, ms. */
const longestSleepMs = 1000;

/**
 * One stream thread: the loop that moves records through the tasks assigned to it, and when those begin, end and begin anew; how they do is in `OwnedTasks`.
 *
 * The group member calls `assigned`, `revoke` and `lost`; the fetcher calls `receive`; the epoch runner reports failures to `fail`. All of it runs in one
 * JavaScript thread, so between two awaits nothing moves. Invariants: a task runs only while it is owned; a revocation is answered after the last
 * epoch with the task's records has committed; after a failure every task is closed without its uncommitted state and opened again from what Kafka has.
 * Nothing here waits for a user's function except `revoke`, for `rebalanceTimeout` at most, and a clean `stop`; a loss of the tasks or `stop(false)` ends those two.
 */
export class StreamThread {
  /** Those that run. */
  readonly tasks: ReadonlyMap<string, ActiveTask>;
  readonly timeShares = new TimeShares(performance.now());
  private stoodStill = false;
  /** The local disk is slower than the tasks: they wait for it. */
  private waitsForDisk = false;
  private readonly owning: OwnedTasks;
  private readonly wakeup = new Wakeup();
  private readonly drains = new Drains();
  private recovering: Promise<void> | null = null;
  private stopped = false;
  private halted = false;
  private loop: Promise<void> = Promise.resolve();
  private epochs!: EpochRunner;
  private member!: GroupMembership;
  private nextFirst = 0;
  private readonly ending = new AbortController();
  private readonly restartPause: RestartPause;

  constructor(private readonly parts: StreamThreadParts) {
    const { fetcher, opener, standbys, planOf, logger } = parts;
    this.restartPause = new RestartPause(logger);
    this.owning = new OwnedTasks({
      fetcher,
      opener,
      standbys,
      planOf,
      logger,
      onAdopted: (active) => {
        // No record need come for the next barrier to commit what `init` wrote, or where an input begins.
        if (active.task.dirty) this.epochs.progress();
        this.wakeup.notify();
      },
      onOpeningEnded: () => {
        this.report();
      },
      onFailure: (error) => {
        this.fail(error);
      },
    });
    this.tasks = this.owning.running;
  }

  /** Connects the thread to the collaborators that need it in turn. Called once, before `start`. */
  attach(epochs: EpochRunner, member: GroupMembership): void {
    this.epochs = epochs;
    this.member = member;
  }

  start(): void {
    this.parts.fetcher.start();
    this.loop = this.run();
  }

  /** Aborts when the thread stops. */
  get ended(): AbortSignal {
    return this.ending.signal;
  }

  /** Tasks the group gave to this thread. */
  get owned(): ReadonlySet<string> {
    return this.owning.ids;
  }

  /** True when everything owned runs. */
  get isRunning(): boolean {
    return this.recovering === null && this.owning.allRun;
  }

  get isPaused(): boolean {
    return this.stoodStill;
  }

  /** While it is true tasks take no records and fire no timers; commits, restores, standbys and the group go on. */
  set isPaused(paused: boolean) {
    this.stoodStill = paused;
    this.wakeup.notify();
  }

  // --- from the group member -------------------------------------------------------------------------------------------------------

  assigned(assignment: MemberAssignment): void {
    const next = new Set(assignment.activeTasks.map(formatTaskId));
    for (const id of next) this.owning.ids.add(id);
    const standby = assignment.standbyTasks.map(formatTaskId);
    this.parts.standbys.assign(standby, assignment.warmupTasks.map(formatTaskId), this.owned);
    if (this.recovering === null) this.openMissing();
    this.report();
  }

  /** Commits what the tasks have done and gives them up; after `rebalanceTimeout` without a commit, as if they had been lost. */
  async revoke(tasks: readonly TaskId[]): Promise<void> {
    const ids = tasks.map(formatTaskId);
    for (const id of ids) this.owning.ids.delete(id);
    const leaving = ids.flatMap((id) => this.tasks.get(id) ?? []);
    const drained = this.drain(leaving);
    this.parts.listener.onActivity('rebalancing');
    await this.owning.stopOpening(ids);
    let inTime = true;
    if (!this.stopped) {
      inTime = await commitInTime(this.commitAll(drained), this.parts.rebalanceTimeout, (waitedMs) => this.tellWaiting(ids, waitedMs));
      if (!inTime) this.giveUp(ids);
    }
    await this.owning.close(inTime && !this.halted && !this.stopped, ids);
    this.report();
  }

  /** Has the tasks take no more records, and stand still once what asynchronous operators have begun is finished. */
  private drain(tasks: readonly ActiveTask[]): Promise<void> {
    const atOnce = tasks.filter(({ task }) => task.unfinishedCount === 0);
    for (const active of atOnce) active.paused = true;
    if (atOnce.length === tasks.length) return Promise.resolve();
    return this.drains.finish(tasks).then(() => {
      for (const active of tasks) active.paused = true;
    });
  }

  private async commitAll(drained: Promise<void>): Promise<void> {
    await drained;
    await this.recovering;
    await this.epochs.checkpoint();
    await this.recovering;
  }

  /** The group must go on although the commit does not come; nothing uncommitted may be committed later. */
  private giveUp(ids: readonly string[]): void {
    const { logger, rebalanceTimeout } = this.parts;
    logger.warn(
      { tasks: ids, rebalanceTimeout, inWork: placesInWork(this.tasks.values()) },
      `tasks are given up without a commit: it did not come within ${rebalanceTimeout} ms, and the group waits`,
    );
    this.fail(
      new MillraceError('MILL_TRANSACTION_ABORTED', `the commit before tasks were given up took longer than ${rebalanceTimeout} ms`, {
        details: { outcome: 'aborted', tasks: ids },
      }),
    );
  }

  private tellWaiting(ids: readonly string[], waitedMs: number): void {
    const { logger, rebalanceTimeout } = this.parts;
    const inWork = placesInWork(this.tasks.values());
    logger.warn(
      { tasks: ids, waitedMs, rebalanceTimeout, inWork },
      `the group waits for this member to give up tasks: ${whyWaiting(inWork)}`,
    );
  }

  /** Another member may run these by now: nothing of them is committed any more. */
  lost(tasks: readonly TaskId[]): void {
    const ids = tasks.map(formatTaskId);
    for (const id of ids) this.owning.ids.delete(id);
    const running = ids.filter((id) => this.owning.isLive(id));
    if (running.length === 0) return;
    this.parts.logger.warn({ tasks: running }, 'the group took tasks away without asking; what was not committed is dropped');
    this.fail(
      new MillraceError('MILL_TRANSACTION_ABORTED', 'the group took tasks away from this member', {
        details: { outcome: 'aborted', tasks: running },
      }),
    );
  }

  // --- from the fetcher ------------------------------------------------------------------------------------------------------------

  receive(chunk: FetchedChunk): void {
    for (const active of this.tasks.values()) {
      if (active.task.reads(chunk.topic, chunk.partition)) {
        active.task.addChunk(chunk);
        this.wakeup.notify();
        return;
      }
    }
    this.parts.fetcher.consumed(chunk.byteLength, chunk);
  }

  // --- failures --------------------------------------------------------------------------------------------------------------------

  /** The open epoch is lost. Recovers by itself where that helps, else asks the app. */
  fail(error: unknown): void {
    if (this.stopped || this.recovering !== null || this.halted) return;
    this.epochs.failed();
    this.drains.giveUp();
    this.parts.onEpochLost();
    const kind = recoveryOf(error);
    if (kind === 'recover') {
      this.parts.logger.warn({ error: String(error) }, 'the epoch was lost and is processed again');
      this.recover(retryPauseOf(error));
      return;
    }
    this.halted = true;
    this.parts.listener.onError(error, (pauseMs) => {
      if (this.stopped || !this.halted) return;
      this.halted = false;
      this.recover(pauseMs);
    });
  }

  /** `pauseMs` null: as long as failures without a commit in between make it. */
  private recover(pauseMs: number | null): void {
    this.parts.listener.onActivity('rebalancing');
    this.recovering = this.recoverUntilDone().finally(() => {
      this.recovering = null;
      this.openAfter(pauseMs);
      this.report();
      this.wakeup.notify();
    });
  }

  private openAfter(pauseMs: number | null): void {
    if (this.stopped) return;
    const ms = pauseMs ?? this.restartPause.afterFailure();
    if (ms === null || ms === 0) {
      this.openMissing();
      return;
    }
    this.restartPause.begin(ms, () => {
      this.openMissing();
      this.report();
    });
  }

  /** An epoch was committed. */
  committed(): void {
    this.restartPause.committed();
    this.wakeup.notify();
  }

  private async recoverUntilDone(): Promise<void> {
    for (let attempt = 1; !this.stopped; attempt++) {
      try {
        await this.owning.stopOpening();
        await this.owning.close(false);
        await this.parts.producer.init();
        this.epochs.recovered();
        return;
      } catch (error) {
        if (this.ended.aborted) return;
        if (recoveryOf(error) === 'ask') await this.decision(error);
        this.parts.logger.warn({ error: String(error), attempt }, 'recovery failed; trying again');
        await delay(backoffMs(attempt, recoveryPause, Math.random), this.ended).catch(() => undefined);
      }
    }
  }

  /** Resolves when the app wants the thread to go on, after the pause that it asks for, or when the thread ends. */
  private async decision(error: unknown): Promise<void> {
    const pauseMs = await new Promise<number>((resolve) => {
      const onEnded = (): void => resolve(0);
      this.ended.addEventListener('abort', onEnded, { once: true });
      this.parts.listener.onError(error, (ms) => {
        this.ended.removeEventListener('abort', onEnded);
        resolve(ms);
      });
    });
    await delay(pauseMs, this.ended).catch(() => undefined);
  }

  private openMissing(): void {
    if (this.stopped || this.halted || this.restartPause.isOn) return;
    this.owning.openMissing();
  }

  private report(): void {
    if (!this.stopped) this.parts.listener.onActivity(this.isRunning && this.member.memberStable ? 'running' : 'rebalancing');
  }

  // --- the loop --------------------------------------------------------------------------------------------------------------------

  private async run(): Promise<void> {
    while (!this.stopped) {
      let worked = 0;
      try {
        worked = this.turn();
      } catch (error) {
        this.fail(error);
      }
      this.drains.check();
      this.parts.longWaits?.check(this.tasks.values(), this.parts.now());
      if (worked > 0) await yieldToIo();
      else await this.sleep();
    }
  }

  /** Until there is news. A user's function that is awaited is work. */
  private async sleep(): Promise<void> {
    const start = performance.now();
    const isHeldUp = this.recovering === null && !this.halted && (this.waitsForDisk || !this.epochs.mayProcess);
    const waiting = [...this.tasks.values()].filter(({ task }) => !task.isBusy);
    const isWorking = waiting.length < this.tasks.size;
    await this.wakeup.wait(this.sleepMs());
    const end = performance.now();
    if (!isWorking) this.timeShares.spent(isHeldUp ? 'backPressured' : 'idle', end - start, end);
    for (const { task, timeShares } of waiting) {
      if (isHeldUp) timeShares.spent('backPressured', end - start, end);
      else if (task.isFull) timeShares.spent('busy', end - start, end);
    }
  }

  private turn(): number {
    const now = this.parts.now();
    if (this.recovering !== null || this.halted) return 0;
    this.epochs.tick(now);
    if (!this.epochs.mayProcess) return 0;
    const fullness = this.dueBytes() / this.parts.maxDueBytes();
    this.waitsForDisk = fullness > 1;
    const worked = this.waitsForDisk ? 0 : this.runTasks(now);
    if (worked > 0) {
      this.parts.producer.sendReady();
      this.epochs.progress();
    }
    for (const { state } of this.tasks.values()) state.maybeFlush(now, fullness);
    return worked;
  }

  private dueBytes(): number {
    let bytes = 0;
    for (const { state } of this.tasks.values()) bytes += state.dueBytes;
    return bytes;
  }

  /** Gives each task its share of the slice, beginning with another one each time. */
  private runTasks(now: number): number {
    // What is given up finishes what it has begun, paused or not: the group waits for it.
    const tasks = [...this.tasks.values()].filter(({ paused, task }) => !paused && !task.isBusy && !(this.isPaused && task.takesInput));
    if (tasks.length === 0) return 0;
    const share = sliceMs / tasks.length;
    const wallClock = this.parts.wallClock();
    let worked = 0;
    const first = this.nextFirst++ % tasks.length;
    for (let i = 0; i < tasks.length; i++) {
      const { task, timeShares } = tasks[(first + i) % tasks.length] as ActiveTask;
      const begun = performance.now();
      if (!this.isPaused) worked += task.punctuate(now, wallClock);
      worked += task.run(begun + share);
      const ended = performance.now();
      timeShares.spent('busy', ended - begun, ended);
      if (task.isBusy) this.await(task, timeShares);
    }
    return worked;
  }

  /** A user's function is awaited: that is work. */
  private await(task: ActiveTask['task'], timeShares: TimeShares): void {
    timeShares.begin('busy', performance.now());
    const settled = (): void => {
      timeShares.end(performance.now());
      this.wakeup.notify();
    };
    task.settled().then(settled, settled);
  }

  /** The inputs of the task are read to the end of a bounded run. */
  endInput(id: string, end: InputEnd): void {
    this.tasks.get(id)?.task.endInput(end);
    this.wakeup.notify();
  }

  /** Has the task commit how far it is at the next barrier, although it did nothing. */
  commitPositions(id: string): void {
    const active = this.tasks.get(id);
    if (active === undefined) return;
    active.task.dirty = true;
    this.epochs.progress();
    this.wakeup.notify();
  }

  /** News that the loop should look at: a commit ended, a user asked for one. */
  nudge(): void {
    this.wakeup.notify();
  }

  private sleepMs(): number {
    // While nothing may run, whoever ends that state wakes the loop.
    if (this.recovering !== null || this.halted || !this.epochs.mayProcess) return longestSleepMs;
    const now = this.parts.now();
    let until = now + longestSleepMs;
    const barrier = this.epochs.nextBarrier();
    if (barrier !== null) until = Math.min(until, barrier);
    if (!this.isPaused && !this.waitsForDisk)
      for (const { task, paused } of this.tasks.values()) if (!paused && !task.isBusy) until = Math.min(until, task.nextWakeUp() ?? until);
    return Math.max(0, until - now);
  }

  /** Partitions this thread reads. */
  assignedPartitions(): TopicPartition[] {
    return [...this.tasks.values()].flatMap(({ task }) => task.positions().map(({ topic, partition }) => ({ topic, partition })));
  }

  /**
   * `clean`: commits, gives everything up and stops the loop; waits for pending user functions. Otherwise stops at once, without a commit, and ends a clean
   * stop that is under way. The member must have left or be about to.
   */
  async stop(clean: boolean): Promise<void> {
    if (clean && !this.halted && !this.stopped) {
      await this.recovering;
      await this.commitAll(this.drain([...this.tasks.values()]));
    }
    const isClean = clean && !this.halted && !this.stopped;
    this.end();
    await this.loop;
    const steps: readonly (() => Promise<unknown>)[] = [
      () => this.owning.stopOpening(),
      () => this.owning.close(isClean),
      () => this.owning.closed(),
      () => this.parts.fetcher.stop(),
      () => this.parts.standbys.close(),
      () => this.parts.restorer.close(),
      () => this.parts.producer.close(),
    ];
    const faults: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  }

  /** It has failed or ended: nothing is processed until the app decides, if ever. */
  get standsStill(): boolean {
    return this.halted || this.stopped;
  }

  /** Lets go of everybody who waits: for a commit, a pause, the app's decision. */
  private end(): void {
    this.stopped = true;
    this.ending.abort(new MillraceError('MILL_STATE_INVALID', 'the stream thread has stopped'));
    this.restartPause.end();
    this.epochs.failed();
    this.drains.giveUp();
    this.wakeup.notify();
  }
}
