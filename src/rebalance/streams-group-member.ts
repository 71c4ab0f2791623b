/**
 * A member of a streams group on a real coordinator (KIP-1071): carries out what `StreamsGroupMachine` asks for, over the client port.
 *
 * One a stream thread, in the place of `GroupMember`, and with the same rules for callbacks: one at a time in the order of the machine's commands, except `onLost`, which
 * overtakes them and cancels those for tasks that are gone. Heartbeats go on whatever the callbacks do.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { errorName } from '../kafka/error-codes.js';
import type { GroupMemberIdentity, KafkaPort } from '../kafka/port.js';
import type { StreamsEndpoint, StreamsGroupDescription, StreamsGroupTopology } from '../kafka/streams-groups.js';
import type { Logger } from '../observability/logger.js';
import { systemGroupClock, type GroupClock } from './group-clock.js';
import type { GroupKnowledge, GroupMembership, SessionVerdict } from './group-membership.js';
import type { GroupPhase } from './group-protocol.js';
import { assignmentVersion, type MemberAssignment } from './member-assignment.js';
import { streamsGroupFailure, unworkableGroup } from './streams-group-failure.js';
import { StreamsGroupMachine } from './streams-group-machine.js';
import type { StreamsGroupCommand, StreamsGroupEvent, StreamsTaskSets } from './streams-group-protocol.js';
import { assignmentOf, isSettled, membersOf, ownPlace, taskSetsOf } from './streams-group-view.js';
import type { TaskId } from './task-id.js';

export interface StreamsGroupMemberOptions {
  readonly groupId: string;
  /** Of this thread of this process, over its restarts (`streamsMemberId`). */
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly processId: string;
  readonly topology: StreamsGroupTopology;
  /** Milliseconds that the broker waits for tasks to be given up. */
  readonly rebalanceTimeoutMs: number;
  /** `host:port`, or null. */
  readonly applicationServer: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** Whether every member of the group is to stop. */
  readonly shutsDown: () => boolean;
  readonly transactionalIdOf: (memberId: string) => string;
  readonly logger: Logger;
  readonly clock?: GroupClock;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;

  /** As in `GroupMemberOptions`. */
  onAssigned(assignment: MemberAssignment, added: readonly TaskId[], epoch: number): MaybeAsync;
  onRevoked(tasks: readonly TaskId[]): MaybeAsync;
  onLost(tasks: readonly TaskId[]): void;
  /** Who is in the group, whenever a look at it shows a change. */
  onGroup(group: GroupKnowledge): void;
  onFatal(error: Error): void;
}

/** How long leaving waits for the coordinator: a member that could not say goodbye is dropped when its session ends. */
const goodbyeTimeoutMs = 3000;

export class StreamsGroupMember implements GroupMembership {
  private readonly machine: StreamsGroupMachine;
  private readonly clock: GroupClock;
  private readonly abort = new AbortController();
  private readonly events: StreamsGroupEvent[] = [];
  private draining = false;
  private stopped = false;
  private cancelTimer: (() => void) | null = null;
  private callbacks: Promise<void> = Promise.resolve();
  private endpointEpoch = -1;
  private members: MemberAssignment['members'] = [];
  private toldGroup = '';
  /** Counts the losses: a callback that was queued before one is void. */
  private losses = 0;
  private assignedOnce = false;
  private failure: Error | null = null;
  private readonly waiters = new Set<() => boolean>();

  constructor(
    private readonly port: KafkaPort,
    private readonly options: StreamsGroupMemberOptions,
  ) {
    this.clock = options.clock ?? systemGroupClock;
    this.machine = new StreamsGroupMachine({ groupInstanceId: options.groupInstanceId, random: options.random ?? Math.random });
  }

  get state(): GroupPhase {
    return this.machine.phase;
  }

  get memberStable(): boolean {
    return this.machine.settled;
  }

  get hasEnded(): boolean {
    return this.stopped || this.machine.phase === 'left' || this.machine.phase === 'failed';
  }

  get ownedTasks(): readonly TaskId[] {
    return this.machine.ownedTasks;
  }

  async start(): Promise<void> {
    const { groupId } = this.options;
    if (this.machine.phase !== 'idle')
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${groupId}" was started before.`);
    this.dispatch({ kind: 'start' });
    await this.until(() => this.assignedOnce || this.hasEnded);
    if (this.failure !== null) throw this.failure;
    if (!this.assignedOnce)
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${groupId}" was stopped before it had joined.`);
  }

  async leave(leaveGroup: boolean | null = null): Promise<void> {
    this.dispatch({ kind: 'leaveRequested', leaveGroup });
    await this.until(() => this.hasEnded);
    this.stop();
  }

  stop(): void {
    this.stopped = true;
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.abort.abort();
    this.wake();
  }

  identity(): GroupMemberIdentity {
    const { groupId, memberId, groupInstanceId } = this.options;
    return { groupId, memberId, generation: this.machine.epoch, groupInstanceId };
  }

  async identityAfter(refused: GroupMemberIdentity): Promise<GroupMemberIdentity | null> {
    const { losses } = this;
    if (this.machine.epoch <= refused.generation) this.dispatch({ kind: 'hurry' });
    await this.until(() => losses !== this.losses || this.hasEnded || this.machine.epoch > refused.generation);
    return losses === this.losses && !this.hasEnded ? this.identity() : null;
  }

  async confirmSession(): Promise<SessionVerdict> {
    const { losses } = this;
    if (!this.hasEnded && this.machine.sessionDoubtful(this.clock.now())) {
      this.dispatch({ kind: 'hurry' });
      await this.until(() => losses !== this.losses || this.hasEnded || !this.machine.sessionDoubtful(this.clock.now()));
    }
    return losses === this.losses && !this.hasEnded ? 'ok' : 'lost';
  }

  /** The broker sees changed topics by itself; what it has decided meanwhile is asked for now. */
  requestRejoin(reason: string): void {
    this.options.logger.debug({ groupId: this.options.groupId, reason }, 'asking the group for news');
    this.dispatch({ kind: 'hurry' });
  }

  async refreshGroup(): Promise<void> {
    const group = await this.port.admin.describeStreamsGroup(this.options.groupId);
    if (group !== null) this.tellGroup(group);
  }

  // Events and commands

  private dispatch(event: StreamsGroupEvent): void {
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

  private carryOut(command: StreamsGroupCommand): void {
    const { options, port } = this;
    const { groupId, logger } = options;
    switch (command.kind) {
      case 'findCoordinator': {
        const { attempt, refresh } = command;
        const broker = port.findCoordinator('group', groupId, { refresh, signal: this.abort.signal });
        this.request(attempt, broker, (found) => ({ kind: 'coordinatorFound', attempt, broker: found }));
        return;
      }
      case 'join':
        this.heartbeat(command.attempt, command.broker, 0, null);
        return;
      case 'heartbeat':
        this.heartbeat(command.attempt, command.broker, command.epoch, command.owned);
        return;
      case 'leave':
        this.goodbye(command.attempt, command.broker, command.epoch);
        return;
      case 'describe':
        this.describe(command.attempt);
        return;
      case 'revoke':
        this.revoke(command.revocation, command.tasks);
        return;
      case 'assigned':
        this.assigned(command);
        return;
      case 'lost':
        this.losses++;
        logger.warn({ groupId, tasks: command.tasks.length }, 'tasks lost: the group no longer counts this member in');
        options.onLost(command.tasks);
        return;
      case 'statusChanged':
        if (command.statuses.length > 0)
          logger.info({ groupId, statuses: command.statuses.map(({ detail }) => detail) }, 'the group is not ready');
        return;
      case 'unworkable':
        this.report(unworkableGroup(groupId, command.status));
        return;
      case 'waiting':
        logger.info({ groupId, phase: command.phase, forMs: Math.round(command.forMs) }, 'waiting for the group');
        return;
      case 'retrying': {
        const { request, errorCode, inMs } = command;
        const error = errorCode === null ? 'no answer' : errorName(errorCode);
        logger.warn({ groupId, request, error, inMs }, 'group request failed, trying again');
        return;
      }
      case 'fatal':
        this.report(streamsGroupFailure(options, command.errorCode, command.message));
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

  private request<T>(attempt: number, answer: Promise<T>, event: (answer: T) => StreamsGroupEvent): void {
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

  private heartbeat(attempt: number, broker: number, memberEpoch: number, owned: StreamsTaskSets | null): void {
    const { options, endpointEpoch } = this;
    const { groupId, memberId, groupInstanceId } = options;
    const isJoin = memberEpoch === 0;
    const joining = isJoin
      ? {
          topology: options.topology,
          rebalanceTimeoutMs: options.rebalanceTimeoutMs,
          rackId: null,
          processId: options.processId,
          endpoint: endpointOf(options.applicationServer),
          tags: options.tags,
        }
      : null;
    const nothing = { active: [], standby: [], warmup: [] };
    const reported = isJoin ? nothing : owned === null ? null : assignmentOf(owned);
    const answer = this.port.streamsGroupHeartbeat(broker, {
      groupId,
      memberId,
      memberEpoch,
      endpointEpoch,
      groupInstanceId,
      joining,
      owned: reported,
      shutdown: options.shutsDown(),
    });
    this.request(attempt, answer, (said) => {
      if (said.errorCode === 0) this.endpointEpoch = said.endpointEpoch;
      return {
        kind: 'heartbeatAnswered',
        attempt,
        answer: { ...said, assignment: said.assignment === null ? null : taskSetsOf(said.assignment) },
      };
    });
  }

  private goodbye(attempt: number, broker: number, memberEpoch: number): void {
    const { groupId, memberId, groupInstanceId } = this.options;
    const cancel = this.clock.setTimer(() => this.dispatch({ kind: 'transportFailed', attempt }), goodbyeTimeoutMs);
    const request = {
      groupId,
      memberId,
      memberEpoch,
      endpointEpoch: this.endpointEpoch,
      groupInstanceId,
      joining: null,
      owned: null,
      shutdown: this.options.shutsDown(),
    };
    this.request(attempt, this.port.streamsGroupHeartbeat(broker, request).finally(cancel), (said) => ({
      kind: 'heartbeatAnswered',
      attempt,
      answer: { ...said, assignment: null },
    }));
  }

  private describe(attempt: number): void {
    const { groupId, memberId } = this.options;
    this.request(attempt, this.port.admin.describeStreamsGroup(groupId), (group) => {
      if (group !== null) this.tellGroup(group);
      return { kind: 'described', attempt, own: ownPlace(group, memberId), groupSettled: isSettled(group) };
    });
  }

  /** Tells who is in the group, if that has changed. */
  private tellGroup(group: StreamsGroupDescription): void {
    const { memberId, transactionalIdOf } = this.options;
    this.members = membersOf(group);
    // What was read before this member's last step is not true of the group that it is in now.
    const generation = group.members.find((member) => member.memberId === memberId)?.memberEpoch ?? -1;
    const text = JSON.stringify([generation, this.members]);
    if (text === this.toldGroup || this.stopped) return;
    this.toldGroup = text;
    const liveTransactionalIds = group.members.map((member) => transactionalIdOf(member.memberId));
    this.options.onGroup({ members: this.members, liveTransactionalIds, generation });
  }

  // Callbacks

  private assigned({ assignment, added, epoch }: Extract<StreamsGroupCommand, { kind: 'assigned' }>): void {
    const { groupId, logger } = this.options;
    logger.info({ groupId, generation: epoch, tasks: assignment.active.length, added: added.length }, 'tasks assigned');
    this.enqueue(
      async () => this.options.onAssigned(this.memberAssignment(assignment), added, epoch),
      () => (this.assignedOnce = true),
    );
  }

  private memberAssignment({ active, standby, warmup }: StreamsTaskSets): MemberAssignment {
    return {
      version: assignmentVersion,
      activeTasks: active,
      standbyTasks: [...standby, ...warmup],
      warmupTasks: warmup,
      partitions: [],
      liveTransactionalIds: [],
      settled: this.machine.settled,
      error: null,
      members: this.members,
    };
  }

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
    if (this.hasEnded) return;
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

/** An IPv6 host may stand in brackets. */
function endpointOf(server: string | null): StreamsEndpoint | null {
  if (server === null) return null;
  const colon = server.lastIndexOf(':');
  return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) };
}
