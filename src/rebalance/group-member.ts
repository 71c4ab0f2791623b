/**
 * A member of the application's group on a real coordinator: carries out what `GroupMachine` asks for, over the client port.
 *
 * One a stream thread. Callbacks to the application run one at a time in the order of the machine's commands, except `onLost`, which
 * overtakes them and cancels those for tasks that are gone. Events are queued, so a callback may call any method of the member.
 */
import { randomUUID } from 'node:crypto';
import { MillraceError } from '../errors.js';
import type { GroupMemberIdentity, JoinGroupResponse, KafkaPort } from '../kafka/port.js';
import { errorName } from '../kafka/error-codes.js';
import type { JoinedMember } from './assignment-plan.js';
import { consumerProtocolType } from './consumer-protocol.js';
import { systemGroupClock, type GroupClock } from './group-clock.js';
import { groupFailure } from './group-failure.js';
import { GroupMachine } from './group-machine.js';
import type { GroupMembership, SessionVerdict } from './group-membership.js';
import type { GroupMemberOptions } from './group-member-options.js';
import type { EncodedAssignment, GroupCommand, GroupEvent, GroupPhase, OwnershipClaim } from './group-protocol.js';
import { decodeMemberAssignment, emptyAssignment, encodeMemberAssignment } from './member-assignment.js';
import { decodeMemberSubscription, encodeMemberSubscription, subscriptionVersion, type MemberSubscription } from './member-subscription.js';
import type { TaskId } from './task-id.js';

export const groupProtocolName = 'millrace-v1';
export const defaultSessionTimeoutMs = 10_000;
export const defaultRebalanceTimeoutMs = 300_000;
export const defaultHeartbeatIntervalMs = 3000;

/** How long leaving waits for the coordinator: a member that could not say goodbye is dropped when its session ends. */
const goodbyeTimeoutMs = 3000;

export class GroupMember implements GroupMembership {
  private readonly machine: GroupMachine;
  private readonly clock: GroupClock;
  private readonly groupInstanceId: string | null;
  private readonly sessionTimeoutMs: number;
  private readonly incarnation: string;
  private readonly abort = new AbortController();

  private readonly events: GroupEvent[] = [];
  private draining = false;
  private stopped = false;
  private cancelTimer: (() => void) | null = null;
  private callbacks: Promise<void> = Promise.resolve();
  private members: JoinGroupResponse['members'] = [];
  /** Counts the losses: a callback that was queued before one is void. */
  private losses = 0;
  private assignedOnce = false;
  private failure: Error | null = null;
  private readonly waiters = new Set<() => boolean>();

  constructor(
    private readonly port: KafkaPort,
    private readonly options: GroupMemberOptions,
  ) {
    this.clock = options.clock ?? systemGroupClock;
    this.groupInstanceId = options.groupInstanceId ?? null;
    this.sessionTimeoutMs = options.sessionTimeoutMs ?? defaultSessionTimeoutMs;
    this.incarnation = options.incarnation ?? randomUUID();
    this.machine = new GroupMachine({
      sessionTimeoutMs: this.sessionTimeoutMs,
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? defaultHeartbeatIntervalMs,
      groupInstanceId: this.groupInstanceId,
      previousMemberId: options.previousMemberId ?? '',
      random: options.random ?? Math.random,
    });
  }

  get state(): GroupPhase {
    return this.machine.phase;
  }

  /** The assignment is in force and no further rebalance is known to come. */
  get memberStable(): boolean {
    return this.machine.settled;
  }

  /** It has left, was stopped or failed: it claims nothing any more. */
  get hasEnded(): boolean {
    return this.isOver();
  }

  /** Tasks that this member claims: running, or being given up. */
  get ownedTasks(): readonly TaskId[] {
    return this.machine.ownedTasks;
  }

  /**
   * Joins and resolves when the first assignment has been taken over. Waits as long as the group needs, telling the log.
   * Rejects with MILL_GROUP_FATAL, MILL_INSTANCE_FENCED or MILL_AUTHORIZATION when the group refuses this member, MILL_STATE_INVALID when it is stopped before.
   */
  async start(): Promise<void> {
    if (this.machine.phase !== 'idle')
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${this.options.groupId}" was started before.`);
    this.dispatch({ kind: 'start' });
    await this.until(() => this.assignedOnce || this.isOver());
    if (this.failure !== null) throw this.failure;
    if (!this.assignedOnce)
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${this.options.groupId}" was stopped before it had joined.`);
  }

  /**
   * Gives up all tasks (`onRevoked`, awaited) and leaves. With `leaveGroup` false, the default of a static member, the broker keeps the member, and its tasks for it, until its
   * session ends. Never rejects.
   */
  async leave(leaveGroup: boolean | null = null): Promise<void> {
    this.dispatch({ kind: 'leaveRequested', leaveGroup });
    await this.until(() => this.isOver());
    this.stop();
  }

  /** Ends everything at once: no callback, no goodbye. The broker drops the member when its session ends. */
  stop(): void {
    this.stopped = true;
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.abort.abort();
    this.wake();
  }

  /** What fences commits: goes into TxnOffsetCommit and OffsetCommit. Read it anew for every request: a join changes it while kept tasks run on. */
  identity(): GroupMemberIdentity {
    return {
      groupId: this.options.groupId,
      memberId: this.machine.memberId,
      generation: this.machine.generation,
      groupInstanceId: this.groupInstanceId,
    };
  }

  /**
   * After a commit was refused with ILLEGAL_GENERATION or REBALANCE_IN_PROGRESS: resolves with the identity of the next generation, or null when
   * the tasks have been lost. While a join is answered the broker is a generation ahead of its members for a moment; the tasks
   * kept are still this member's, so the commit may be sent again.
   */
  async identityAfter(refused: GroupMemberIdentity): Promise<GroupMemberIdentity | null> {
    const { losses } = this;
    if (this.machine.generation <= refused.generation) this.dispatch({ kind: 'membershipDoubted' });
    await this.until(() => losses !== this.losses || this.isOver() || this.machine.generation > refused.generation);
    return losses === this.losses && !this.isOver() ? this.identity() : null;
  }

  /** The leader tells with each assignment who is in the group. */
  async refreshGroup(): Promise<void> {
    return Promise.resolve();
  }

  /** Asks for a rebalance: topics, partition counts or the state on disk have changed. */
  requestRejoin(reason: string): void {
    this.options.logger.info({ groupId: this.options.groupId, reason }, 'asking for a rebalance');
    this.dispatch({ kind: 'rejoinRequested' });
  }

  /**
   * To be called before each commit. 'lost': the last proven heartbeat is older than the session timeout (the event loop was blocked, the process
   * stopped); `onLost` has been called for all tasks and the member rejoins.
   */
  checkSession(): SessionVerdict {
    if (this.isOver()) return 'lost';
    const verdict = this.machine.sessionDoubtful(this.clock.now()) ? 'lost' : 'ok';
    this.dispatch({ kind: 'sessionChecked' });
    return verdict;
  }

  /** Like `checkSession`, but in doubt asks the broker first, which may have been more patient than it had to be. */
  async confirmSession(): Promise<SessionVerdict> {
    const { losses } = this;
    if (!this.isOver() && this.machine.sessionDoubtful(this.clock.now())) {
      this.dispatch({ kind: 'tick' });
      await this.until(() => losses !== this.losses || this.isOver() || !this.machine.sessionDoubtful(this.clock.now()));
    }
    return losses === this.losses && !this.isOver() ? 'ok' : 'lost';
  }

  private isOver(): boolean {
    return this.stopped || this.machine.phase === 'left' || this.machine.phase === 'failed';
  }

  // Events and commands

  private dispatch(event: GroupEvent): void {
    this.events.push(event);
    if (this.draining) return;
    this.draining = true;
    try {
      for (let next = this.events.shift(); next !== undefined; next = this.events.shift()) {
        if (this.stopped) continue;
        for (const command of this.machine.handle(next, this.clock.now())) this.carryOut(command);
      }
    } finally {
      this.draining = false;
    }
    this.wake();
  }

  private carryOut(command: GroupCommand): void {
    const { options, port } = this;
    const { groupId, logger } = options;
    switch (command.kind) {
      case 'findCoordinator':
        this.request(
          command.attempt,
          port.findCoordinator('group', groupId, { refresh: command.refresh, signal: this.abort.signal }),
          (broker) => ({
            kind: 'coordinatorFound',
            attempt: command.attempt,
            broker,
          }),
        );
        return;
      case 'join':
        this.join(command.attempt, command.broker, command.memberId, command.claim);
        return;
      case 'assign':
        this.request(command.attempt, this.assign(command.generation), (assignments) => ({
          kind: 'assignmentsReady',
          attempt: command.attempt,
          assignments,
        }));
        return;
      case 'sync': {
        const { attempt, broker, protocolName, assignments } = command;
        const answer = port.syncGroup(broker, { ...this.identity(), protocolType: consumerProtocolType, protocolName, assignments });
        this.request(attempt, answer, ({ errorCode, assignment }) => ({
          kind: 'syncAnswered',
          attempt,
          errorCode,
          assignment: errorCode === 0 ? decodeMemberAssignment(assignment) : null,
        }));
        return;
      }
      case 'heartbeat': {
        const { attempt, broker } = command;
        this.request(attempt, port.heartbeat(broker, this.identity()), ({ errorCode }) => ({
          kind: 'heartbeatAnswered',
          attempt,
          errorCode,
        }));
        return;
      }
      case 'leave':
        this.goodbye(command.attempt, command.broker, command.memberId);
        return;
      case 'memberIdChanged':
        options.onMemberId?.(command.memberId);
        return;
      case 'revoke':
        this.revoke(command.revocation, command.tasks);
        return;
      case 'assigned':
        logger.info(
          { groupId, generation: command.generation, tasks: command.assignment.activeTasks.length, added: command.added.length },
          'tasks assigned',
        );
        this.enqueue(
          async () => {
            const { members, liveTransactionalIds } = command.assignment;
            options.onGroup?.({ members, liveTransactionalIds, generation: command.generation });
            await options.onAssigned(command.assignment, command.added, command.generation);
          },
          () => (this.assignedOnce = true),
        );
        return;
      case 'lost':
        this.losses++;
        logger.warn({ groupId, tasks: command.tasks.length }, 'tasks lost: the group no longer counts this member in');
        options.onLost(command.tasks);
        return;
      case 'waiting':
        logger.info({ groupId, phase: command.phase, forMs: Math.round(command.forMs) }, 'waiting for the group');
        return;
      case 'retrying': {
        const { request, errorCode, inMs } = command;
        logger.warn(
          { groupId, request, error: errorCode === null ? 'no answer' : errorName(errorCode), inMs },
          'group request failed, trying again',
        );
        return;
      }
      case 'fatal':
        this.report(
          groupFailure(
            { groupId, groupInstanceId: this.groupInstanceId, sessionTimeoutMs: this.sessionTimeoutMs },
            command.request,
            command.errorCode,
          ),
        );
        return;
      case 'left':
        return;
      case 'schedule':
        this.schedule(command.at);
        return;
    }
  }

  private schedule(at: number | null): void {
    this.cancelTimer?.();
    this.cancelTimer = at === null ? null : this.clock.setTimer(() => this.dispatch({ kind: 'tick' }), Math.max(0, at - this.clock.now()));
  }

  // Requests

  private request<T>(attempt: number, answer: Promise<T>, event: (answer: T) => GroupEvent): void {
    answer.then(event).then(
      (happened) => this.dispatch(happened),
      (error: unknown) => {
        if (this.stopped) return;
        this.options.logger.debug({ groupId: this.options.groupId, err: error }, 'group request without an answer');
        if (error instanceof MillraceError && error.code === 'MILL_TRANSPORT') this.dispatch({ kind: 'transportFailed', attempt });
        else this.giveUp(error);
      },
    );
  }

  private join(attempt: number, broker: number, memberId: string, claim: OwnershipClaim): void {
    const { options } = this;
    let known: MemberSubscription;
    try {
      known = options.subscription();
    } catch (error) {
      this.giveUp(error);
      return;
    }
    const subscription = {
      ...known,
      version: subscriptionVersion,
      ownedTasks: claim.tasks,
      generation: claim.generation,
      nonce: `${this.incarnation}.${claim.wish}`,
    };
    const metadata = encodeMemberSubscription(
      subscription,
      claim.tasks.flatMap((task) => options.inputPartitions(task)),
    );
    const answer = this.port.joinGroup(broker, {
      groupId: options.groupId,
      memberId,
      groupInstanceId: this.groupInstanceId,
      sessionTimeoutMs: this.sessionTimeoutMs,
      rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? defaultRebalanceTimeoutMs,
      protocolType: consumerProtocolType,
      protocols: [{ name: groupProtocolName, metadata }],
    });
    this.request(attempt, answer, (joined) => {
      this.members = joined.members;
      return { kind: 'joinAnswered', attempt, answer: joined };
    });
  }

  private async assign(generation: number): Promise<readonly EncodedAssignment[]> {
    const members = this.members.map((member): JoinedMember => {
      const { memberId, groupInstanceId } = member;
      try {
        return { memberId, groupInstanceId, subscription: decodeMemberSubscription(member.metadata) };
      } catch (err) {
        this.options.logger.warn(
          { groupId: this.options.groupId, memberId, err },
          'a member of the group is not understood and gets no task',
        );
        return { memberId, groupInstanceId, subscription: null };
      }
    });
    const assignments = await this.options.assign(members, generation);
    return members.map(({ memberId }) => ({ memberId, assignment: encodeMemberAssignment(assignments.get(memberId) ?? emptyAssignment) }));
  }

  private goodbye(attempt: number, broker: number, memberId: string): void {
    const cancel = this.clock.setTimer(() => this.dispatch({ kind: 'transportFailed', attempt }), goodbyeTimeoutMs);
    const answer = this.port.leaveGroup(broker, { groupId: this.options.groupId, memberId, groupInstanceId: this.groupInstanceId });
    this.request(attempt, answer.finally(cancel), ({ errorCode }) => ({ kind: 'leaveAnswered', attempt, errorCode }));
  }

  // Callbacks

  private revoke(revocation: number, tasks: readonly TaskId[]): void {
    const { losses } = this;
    const { groupId, logger } = this.options;
    logger.info({ groupId, tasks: tasks.length }, 'giving up tasks');
    const giveUpTasks = async (): Promise<void> => {
      try {
        await this.options.onRevoked(tasks);
      } catch (err) {
        if (losses !== this.losses) return;
        logger.warn({ groupId, err }, 'tasks were given up without a commit');
        this.options.onLost(tasks);
      }
    };
    this.enqueue(giveUpTasks, () => this.dispatch({ kind: 'revocationDone', revocation }));
  }

  /** Runs after the callbacks before it, unless the tasks are lost by then. */
  private enqueue(callback: () => Promise<void>, done: () => void): void {
    const { losses } = this;
    this.callbacks = this.callbacks
      .then(async () => {
        if (this.stopped || losses !== this.losses) return;
        await callback();
        done();
        this.wake();
      })
      .catch((error: unknown) => this.giveUp(error));
  }

  private giveUp(cause: unknown): void {
    if (this.isOver()) return;
    const error =
      cause instanceof Error
        ? cause
        : new MillraceError('MILL_GROUP_FATAL', `The member of group "${this.options.groupId}" failed.`, { cause });
    this.dispatch({ kind: 'gaveUp' });
    this.report(error);
  }

  private report(error: Error): void {
    this.failure ??= error;
    this.options.logger.error({ groupId: this.options.groupId, err: error }, 'out of the group');
    this.options.onFatal(error);
    this.wake();
  }

  // Waiting

  private until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = (): boolean => {
        if (!condition()) return false;
        resolve();
        return true;
      };
      this.waiters.add(waiter);
    });
  }

  private wake(): void {
    for (const waiter of this.waiters) if (waiter()) this.waiters.delete(waiter);
  }
}
