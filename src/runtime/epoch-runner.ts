import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { CommittedOffset, GroupMemberIdentity } from '../kafka/port.js';
import { encodeCommittedMetadata } from '../transactions/committed-metadata.js';
import { EpochMachine, type EpochBounds, type EpochCommand } from '../transactions/epoch-machine.js';
import type { EpochProducer, EpochResult, SealedEpoch } from '../transactions/producer/epoch-producer.js';
import { encodeMarks } from '../time/watermarks/mark-text.js';
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { ActiveTask, TaskBarrier } from './active-task.js';
import { announceWatermarks } from './watermark-announcement.js';
import type { EpochMetrics } from '../observability/epoch-metrics.js';
import { delay } from '../kafka/backoff.js';
import { ErrorCodes } from '../kafka/error-codes.js';

export interface EpochRunnerOptions {
  readonly bounds: EpochBounds;
  readonly producer: EpochProducer;
  readonly tasks: () => Iterable<ActiveTask>;
  /** Tells who commits, and whether the group still counts this member in: if not, nothing is committed. */
  readonly member: EpochMember;
  readonly metrics: EpochMetrics;
  readonly now: () => number;
  /** A barrier has ended: tasks may go on. */
  readonly onSealed: () => void;
  readonly onCommitted: (epoch: number) => void;
  readonly onFailed: (error: unknown) => void;
}

/** What an epoch needs of the group member. */
export interface EpochMember {
  commitIdentity(): GroupMemberIdentity;
  /** Whether the group still counts the member in; in doubt it asks. */
  confirmSession(): Promise<'ok' | 'lost'>;
  /** After a refusal: the member's next identity, or null when its tasks are lost. */
  identityAfter(refused: GroupMemberIdentity): Promise<GroupMemberIdentity | null>;
  /** The group does not know who bore that identity. */
  commitRefused(refused: GroupMemberIdentity): void;
}

/** How long a refused commit waits for the member's next generation, ms: a join is answered within moments, or something is wrong. */
const renewWithinMs = 10_000;
/** Between two attempts while the group's leader is still assigning, ms. */
const rebalancePauseMs = 20;

/**
 * Carries out the epoch machine's commands for one stream thread: the seven steps of a barrier (DESIGN §5).
 *
 * Steps 1–3 (settle, flush, freeze, seal) stop the thread's tasks for a moment; steps 4–7 go on in the background while the next epoch is filled.
 */
export class EpochRunner {
  private readonly machine: EpochMachine;
  private waiters: (() => void)[] = [];
  /** Bumped by a failure: what an older attempt still reports is ignored. */
  private attempt = 0;

  constructor(private readonly options: EpochRunnerOptions) {
    this.machine = new EpochMachine(options.bounds, { now: options.now() });
  }

  get mayProcess(): boolean {
    return this.machine.mayProcess;
  }

  get epoch(): number {
    return this.machine.epoch;
  }

  nextBarrier(): number | null {
    return this.machine.nextBarrier();
  }

  /** Starts a barrier when one is due. */
  tick(now: number): void {
    this.execute(this.machine.on({ kind: 'tick', now }));
  }

  /** Records were processed; measures what the open epoch holds. */
  progress(): void {
    this.execute(this.machine.on({ kind: 'progress', bytes: this.uncommittedBytes, now: this.options.now() }));
  }

  /** Output and changed rows of the epoch that fills. */
  get uncommittedBytes(): number {
    let bytes = this.options.producer.bufferedBytes;
    for (const task of this.options.tasks()) bytes += task.activeBytes;
    return bytes;
  }

  requestCommit(): void {
    this.execute(this.machine.on({ kind: 'commitRequested' }));
  }

  /** Resolves when everything processed so far is committed, or lost to a failure (nothing uncommitted survives one). */
  checkpoint(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
      this.execute(this.machine.on({ kind: 'checkpoint' }));
      this.tick(this.options.now());
    });
  }

  failed(): void {
    this.attempt++;
    this.execute(this.machine.on({ kind: 'failed' }));
  }

  recovered(): void {
    this.execute(this.machine.on({ kind: 'recovered', now: this.options.now() }));
  }

  private execute(commands: readonly EpochCommand[]): void {
    for (const command of commands) {
      if (command.kind === 'seal') this.seal(command.epoch);
      else if (command.kind === 'checkpointed') this.release();
    }
  }

  private release(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  private seal(epoch: number): void {
    const startedAt = performance.now();
    const tasks = [...this.options.tasks()].filter(({ task }) => task.dirty || task.isBusy);
    const { attempt } = this;
    const fail = (error: unknown): void => {
      if (attempt === this.attempt) this.options.onFailed(error);
    };
    try {
      const flushed = settleAndFlush(tasks);
      if (flushed === undefined) this.sealNow(epoch, tasks, startedAt);
      else {
        flushed
          .then(() => {
            if (attempt === this.attempt) this.sealNow(epoch, tasks, startedAt);
          })
          .catch(fail);
      }
    } catch (error) {
      fail(error);
    }
  }

  private sealNow(epoch: number, tasks: readonly ActiveTask[], startedAt: number): void {
    const { producer } = this.options;
    const dirty = tasks.filter(({ task }) => task.dirty);
    announceWatermarks(
      dirty.map(({ task }) => task),
      producer,
    );
    const offsets = dirty.flatMap((task) => this.offsetsOf(task.freeze(epoch), epoch));
    const sealed = producer.sealEpoch();
    this.options.metrics.barrier(performance.now() - startedAt, this.machine.startDelay);
    const commands = this.machine.on({ kind: 'sealed', empty: dirty.length === 0 });
    this.execute(commands);
    this.options.onSealed();
    if (commands.some(({ kind }) => kind === 'commit')) this.commit(epoch, sealed, offsets, dirty);
  }

  private commit(epoch: number, sealed: SealedEpoch, offsets: readonly CommittedOffset[], tasks: readonly ActiveTask[]): void {
    const startedAt = performance.now();
    const { attempt } = this;
    this.commitInSession(attempt, epoch, sealed, offsets)
      .then((result) => {
        if (attempt !== this.attempt) return;
        for (const task of tasks) task.committed(epoch, result.nextOffsets);
        this.options.metrics.committed(performance.now() - startedAt, result.recordCount, result.byteLength);
        this.execute(this.machine.on({ kind: 'committed', now: this.options.now() }));
        this.options.onCommitted(epoch);
      })
      .catch((error: unknown) => {
        if (attempt === this.attempt) this.options.onFailed(error);
      });
  }

  private async commitInSession(
    attempt: number,
    epoch: number,
    sealed: SealedEpoch,
    offsets: readonly CommittedOffset[],
  ): Promise<EpochResult> {
    const { member } = this.options;
    // A loss that came during the question has already moved the member on: the identity read now may be good, the tasks are no longer.
    if ((await member.confirmSession()) === 'lost' || attempt !== this.attempt) {
      throw new MillraceError('MILL_TRANSACTION_ABORTED', `epoch ${epoch} is not committed: the group no longer counts this member in`, {
        details: { outcome: 'aborted', memberFenced: true },
      });
    }
    const startedAt = this.options.now();
    let identity = member.commitIdentity();
    try {
      return await sealed.commit(offsets, identity, async (refused, errorCode) => {
        const next = await this.renew(attempt, startedAt, refused, errorCode);
        identity = next ?? identity;
        return next;
      });
    } catch (error) {
      if (isForgotten(error)) member.commitRefused(identity);
      throw error;
    }
  }

  /** While a rebalance is under way the broker may be ahead of a member that keeps its tasks: then the same commit goes out under its next identity. */
  private async renew(
    attempt: number,
    startedAt: number,
    refused: GroupMemberIdentity,
    errorCode: number,
  ): Promise<GroupMemberIdentity | null> {
    const { member, now } = this.options;
    const left = startedAt + renewWithinMs - now();
    if (attempt !== this.attempt || left <= 0) return null;
    let next: GroupMemberIdentity | null;
    if (errorCode === ErrorCodes.REBALANCE_IN_PROGRESS) {
      // The generation is the right one; only the leader's assignment is still to come.
      await delay(rebalancePauseMs);
      next = member.commitIdentity();
    } else {
      const patience = new AbortController();
      const tooLong = delay(left, patience.signal).then(
        () => null,
        () => null,
      );
      next = await Promise.race([member.identityAfter(refused), tooLong]);
      patience.abort();
    }
    return attempt === this.attempt ? next : null;
  }

  private offsetsOf(barrier: TaskBarrier, epoch: number): CommittedOffset[] {
    const { transactionalId } = this.options.producer;
    return barrier.offsets.map((offset, index) => ({
      ...offset,
      metadata: encodeCommittedMetadata({
        epoch,
        transactionalId,
        partitionTime: barrier.partitionTimes[index] ?? -1,
        watermark: barrier.watermark,
        ended: barrier.ended,
        holdsResults: barrier.holdsResults,
        topicId: barrier.topicIds[index] ?? null,
        ...textOf(barrier.marks[index] ?? null),
      }),
    }));
  }
}

/** Without a rebalance that the member takes part in: it may be waiting for one, with its join lost on its way. */
function isForgotten(error: unknown): boolean {
  return error instanceof MillraceError && error.details['brokerErrorCode'] === ErrorCodes.UNKNOWN_MEMBER_ID;
}

/** Nothing when there are more upstream tasks than the metadata has room for: they say it again. */
function textOf(marks: ReadonlyMap<string, UpstreamMark> | null): { readonly marks?: string } {
  const text = marks === null ? null : encodeMarks(marks);
  return text === null ? {} : { marks: text };
}

/** Steps 1 and 2: every task at a record boundary, then every operator's held-back results sent down. */
function settleAndFlush(tasks: readonly ActiveTask[]): MaybeAsync {
  if (tasks.some(({ task }) => task.isBusy)) {
    return Promise.all(tasks.map(({ task }) => task.settled())).then(() => flushFrom(tasks, 0));
  }
  return flushFrom(tasks, 0);
}

function flushFrom(tasks: readonly ActiveTask[], index: number): MaybeAsync {
  for (let i = index; i < tasks.length; i++) {
    const pending = tasks[i]?.task.flush();
    if (pending !== undefined) return pending.then(() => flushFrom(tasks, i + 1));
  }
}
