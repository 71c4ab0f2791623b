/** A stream thread with its real epoch runner over a producer, a group, a fetcher and tasks that the test plays. */
import { MillraceError } from '../../../src/errors.js';
import type { Fetcher } from '../../../src/kafka/fetcher/fetcher.js';
import type { CommittedOffset, GroupMemberIdentity } from '../../../src/kafka/port.js';
import { EpochMetrics } from '../../../src/observability/epoch-metrics.js';
import { silentLogger } from '../../../src/observability/logger.js';
import { TimeShares } from '../../../src/observability/time-shares.js';
import type { GroupMember } from '../../../src/rebalance/group-member.js';
import { emptyAssignment } from '../../../src/rebalance/member-assignment.js';
import { parseTaskId } from '../../../src/rebalance/task-id.js';
import type { ActiveTask, TaskBarrier } from '../../../src/runtime/active-task.js';
import { EpochRunner } from '../../../src/runtime/epoch-runner.js';
import type { StandbyTasks } from '../../../src/runtime/standby-tasks.js';
import type { StateRestorer } from '../../../src/runtime/state-restorer.js';
import { StreamThread } from '../../../src/runtime/stream-thread.js';
import type { TaskOpener } from '../../../src/runtime/task-opener.js';
import type { TaskPlan } from '../../../src/runtime/task-plan.js';
import type { EpochProducer, EpochResult, RenewMember, SealedEpoch } from '../../../src/transactions/producer/epoch-producer.js';
import { deferred, settle } from './task-rig.js';

type Deferred<T> = ReturnType<typeof deferred<T>>;

/** A task that does what it is told: `work` are the results of its next runs. */
export class PlayedTask {
  paused = false;
  dirty = false;
  closed: boolean | null = null;
  offset: number;
  pending: Promise<void> | null = null;
  failure: Error | null = null;
  readonly work: (() => number)[] = [];
  readonly frozen: number[] = [];
  readonly committedEpochs: number[] = [];
  runs = 0;
  wakeUp: number | null = null;
  activeBytes = 0;
  /** Committed rows that wait for the disk. */
  dueBytes = 0;
  fullFlushes = 0;
  closing: Promise<void> | null = null;

  constructor(
    readonly id: string,
    offset: number,
  ) {
    this.offset = offset;
  }

  /** Takes records at the next run. */
  takes(count: number): void {
    this.work.push(() => {
      this.offset += count;
      this.dirty = true;
      return count;
    });
  }

  get active(): ActiveTask {
    return new PlayedActiveTask(this) as unknown as ActiveTask;
  }
}

/** What the thread and the epoch see of it. */
class PlayedActiveTask {
  readonly id: string;
  readonly state: { readonly dueBytes: number; maybeFlush(now: number, fullness: number): void };
  readonly timeShares = new TimeShares(performance.now(), 'idle');
  readonly task: PlayedRecords;

  constructor(private readonly played: PlayedTask) {
    this.id = played.id;
    this.state = {
      get dueBytes(): number {
        return played.dueBytes;
      },
      maybeFlush: (_now, fullness) => {
        if (fullness > 1) played.fullFlushes++;
      },
    };
    this.task = new PlayedRecords(played);
  }

  get paused(): boolean {
    return this.played.paused;
  }

  set paused(value: boolean) {
    this.played.paused = value;
  }

  get activeBytes(): number {
    return this.played.activeBytes;
  }

  freeze(epoch: number): TaskBarrier {
    const { played } = this;
    played.frozen.push(epoch);
    played.dirty = false;
    return {
      offsets: [{ topic: `in-${played.id}`, partition: 0, offset: played.offset, leaderEpoch: -1 }],
      partitionTimes: [1],
      topicIds: [null],
      marks: [null],
      watermark: -Infinity,
      ended: null,
      holdsResults: false,
    };
  }

  committed(epoch: number): void {
    this.played.committedEpochs.push(epoch);
  }

  async close(clean: boolean): Promise<void> {
    this.played.closed = clean;
    await this.played.closing;
  }
}

class PlayedRecords {
  constructor(private readonly played: PlayedTask) {}

  get dirty(): boolean {
    return this.played.dirty;
  }

  get isBusy(): boolean {
    return this.played.pending !== null;
  }

  readonly unfinishedCount = 0;
  readonly takesInput = true;
  readonly isFull = false;

  get inWork(): object | null {
    return this.isBusy ? { topic: `in-${this.played.id}`, partition: 0, offset: this.played.offset } : null;
  }

  reads(topic: string): boolean {
    return topic === `in-${this.played.id}`;
  }

  addChunk(): void {
    // What it takes is told by the test.
  }

  punctuate(): number {
    return 0;
  }

  run(): number {
    this.throwFailure();
    this.played.runs++;
    return this.played.work.shift()?.() ?? 0;
  }

  async settled(): Promise<void> {
    await this.played.pending;
    this.throwFailure();
  }

  flush(): void {
    this.throwFailure();
  }

  nextWakeUp(): number | null {
    return this.played.wakeUp;
  }

  announcement(): null {
    return null;
  }

  positions(): readonly object[] {
    return [{ topic: `in-${this.played.id}`, partition: 0, offset: this.played.offset, partitionTime: 1 }];
  }

  private throwFailure(): void {
    if (this.played.failure !== null) throw this.played.failure;
  }
}

export interface PlayedCommit {
  readonly offsets: readonly CommittedOffset[];
  readonly member: GroupMemberIdentity;
  readonly renew: RenewMember | undefined;
  readonly answer: Deferred<EpochResult>;
}

export const nothingProduced: EpochResult = { nextOffsets: new Map(), recordCount: 0, byteLength: 0 };

export class ThreadRig {
  now = 1000;
  readonly opened: PlayedTask[] = [];
  readonly commits: PlayedCommit[] = [];
  readonly inits: Deferred<void>[] = [];
  readonly activity: string[] = [];
  readonly errors: { readonly error: unknown; readonly restart: (pauseMs: number) => void }[] = [];
  readonly fetcherCalls: string[] = [];
  readonly warnings: { readonly fields: Record<string, unknown>; readonly message: string }[] = [];
  /** What opening the next tasks gives: an error, or nothing for a task that opens. */
  readonly openings: (Error | Promise<void>)[] = [];
  /** Openings end when the test says so, also those that are to stop. */
  openingsHeedNoStop = false;
  /** What the next InitProducerIds give. */
  readonly initErrors: Error[] = [];
  /** Holds InitProducerId back until the test resolves it. */
  holdInit = false;
  session: 'ok' | 'lost' = 'ok';
  sessionQuestions: Deferred<'ok' | 'lost'> | null = null;
  generation = 7;
  /** Rests before tasks are opened again, as told to the log, ms. */
  readonly rests: number[] = [];
  /** Identities of commits that the group does not know. */
  readonly refused: GroupMemberIdentity[] = [];
  nextIdentity: (refused: GroupMemberIdentity) => Promise<GroupMemberIdentity | null> = async () => null;
  committedOffset = 0;
  readonly thread: StreamThread;
  readonly epochs: EpochRunner;
  readonly metrics = new EpochMetrics(Date.now);

  constructor(
    options: { readonly commitInterval?: number; readonly maxUncommittedBytes?: number; readonly rebalanceTimeout?: number } = {},
  ) {
    this.thread = new StreamThread({
      fetcher: this.fetcher(),
      producer: this.producer,
      restorer: { close: async () => undefined } as unknown as StateRestorer,
      opener: { open: (plan: TaskPlan, signal: AbortSignal) => this.open(plan.id, signal) } as unknown as TaskOpener,
      standbys: { assign: () => undefined, release: async () => null, close: async () => undefined } as unknown as StandbyTasks,
      planOf: async (id) => ({ id }) as TaskPlan,
      listener: {
        onActivity: (activity) => {
          if (this.activity.at(-1) !== activity) this.activity.push(activity);
        },
        onError: (error, restart) => {
          this.errors.push({ error, restart });
        },
      },
      logger: {
        ...silentLogger,
        warn: (fields, message) => this.warnings.push({ fields: { ...fields }, message }),
        info: (fields) => {
          if ('inMs' in fields) this.rests.push(Number(fields.inMs));
        },
      },
      now: () => this.now,
      wallClock: () => this.now,
      longWaits: null,
      rebalanceTimeout: options.rebalanceTimeout ?? 60_000,
      maxDueBytes: () => options.maxUncommittedBytes ?? 1_000_000,
      onEpochLost: () => undefined,
    });
    this.epochs = new EpochRunner({
      bounds: { commitInterval: options.commitInterval ?? 100, maxUncommittedBytes: () => options.maxUncommittedBytes ?? 1_000_000 },
      producer: this.producer,
      tasks: () => this.thread.tasks.values(),
      member: {
        commitIdentity: () => this.identity(),
        confirmSession: async () => this.sessionQuestions?.promise ?? this.session,
        identityAfter: (refused) => this.nextIdentity(refused),
        commitRefused: (refused) => this.refused.push(refused),
      },
      metrics: this.metrics,
      now: () => this.now,
      onSealed: () => {
        this.thread.nudge();
      },
      onCommitted: () => {
        this.thread.committed();
      },
      onFailed: (error) => {
        this.thread.fail(error);
      },
    });
    this.thread.attach(this.epochs, { memberStable: true } as unknown as GroupMember);
    this.thread.start();
  }

  readonly producer: EpochProducer = {
    transactionalId: 'app-x-0',
    failed: null,
    bufferedBytes: 0,
    init: async () => {
      const gate = deferred();
      this.inits.push(gate);
      const error = this.initErrors.shift();
      if (error !== undefined) throw error;
      if (this.holdInit) await gate.promise;
    },
    prepareTopics: async () => undefined,
    builder: () => {
      throw new Error('no output here');
    },
    sendReady: () => undefined,
    sealEpoch: (): SealedEpoch => ({
      isEmpty: false,
      commit: (offsets, member, renew) => {
        const answer = deferred<EpochResult>();
        this.commits.push({ offsets, member, renew, answer });
        return answer.promise;
      },
    }),
    abort: async () => undefined,
    close: async () => undefined,
    metrics: () => ({
      recordsSent: 0,
      bytesSent: 0,
      produceRequests: 0,
      batchesRepeated: 0,
      epochsCommitted: 0,
      epochsFailed: 0,
      timesFenced: 0,
      lastCommitMs: 0,
    }),
  };

  identity(): GroupMemberIdentity {
    return { groupId: 'app', memberId: 'm', generation: this.generation, groupInstanceId: null };
  }

  assign(...ids: readonly string[]): void {
    this.thread.assigned({ ...emptyAssignment, activeTasks: ids.map(parseTaskId) });
  }

  revoke(...ids: readonly string[]): Promise<void> {
    return this.thread.revoke(ids.map(parseTaskId));
  }

  lose(...ids: readonly string[]): void {
    this.thread.lost(ids.map(parseTaskId));
  }

  /** The task that runs under the id now. */
  task(id: string): PlayedTask {
    const found = this.opened.findLast((task) => task.id === id && task.closed === null);
    if (found === undefined) throw new Error(`task ${id} is not open`);
    return found;
  }

  /** Assigns and waits until they run. */
  async running(...ids: readonly string[]): Promise<PlayedTask[]> {
    this.assign(...ids);
    await this.turns();
    return ids.map((id) => this.task(id));
  }

  /** Lets the loop and whatever waits go on, `ms` later on the wall clock. */
  async turns(ms = 0): Promise<void> {
    this.now += ms;
    this.thread.nudge();
    for (let i = 0; i < 20; i++) await settle();
  }

  private async open(id: string, signal: AbortSignal): Promise<ActiveTask> {
    const next = this.openings.shift();
    if (next instanceof Error) throw next;
    if (next !== undefined) {
      await Promise.race([
        next,
        new Promise((_, reject) => {
          if (!this.openingsHeedNoStop) signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      ]);
    }
    const task = new PlayedTask(id, this.committedOffset);
    this.opened.push(task);
    return task.active;
  }

  private fetcher(): Fetcher {
    const calls = this.fetcherCalls;
    return {
      start: () => calls.push('start'),
      stop: async () => void calls.push('stop'),
      assign: ({ topic }: { topic: string }, offset: number) => calls.push(`assign ${topic}@${offset}`),
      unassign: ({ topic }: { topic: string }) => calls.push(`unassign ${topic}`),
      consumed: (bytes: number) => calls.push(`consumed ${bytes}`),
    } as unknown as Fetcher;
  }
}

export const aborted = new MillraceError('MILL_TRANSACTION_ABORTED', 'the epoch is gone');
export const broken = new MillraceError('MILL_PROCESSING', 'the user’s function failed');
