/** A member of a streams group on a real coordinator (KIP-1071), in the place of `GroupMember`: carries out what `StreamsGroupMachine` asks for, over the client port. */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { GroupMemberIdentity, KafkaPort } from '../kafka/port.js';
import type { StreamsEndpoint, StreamsGroupDescription, StreamsGroupTopology } from '../kafka/streams-groups.js';
import type { GroupKnowledge } from './group-membership.js';
import { assignmentVersion, type MemberAssignment } from './member-assignment.js';
import { MemberShell, type MemberShellOptions } from './member-shell.js';
import { streamsGroupFailure, unworkableGroup } from './streams-group-failure.js';
import { nothingContested } from './releases/running-shapes.js';
import { StreamsGroupMachine } from './streams-group-machine.js';
import type { StreamsCommand, StreamsGroupEvent, StreamsTaskSets } from './streams-group-protocol.js';
import { assignmentOf, isSettled, membersOf, ownPlace, taskSetsOf } from './streams-group-view.js';
import type { TaskId } from './task-id.js';

export interface StreamsGroupMemberOptions extends MemberShellOptions {
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
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;

  /** As in `GroupMemberOptions`. */
  onAssigned(assignment: MemberAssignment, added: readonly TaskId[], epoch: number): MaybeAsync;
  /** Who is in the group, whenever a look at it shows a change. */
  onGroup(group: GroupKnowledge): void;
}

export class StreamsGroupMember extends MemberShell<StreamsGroupEvent, StreamsCommand, StreamsGroupMemberOptions> {
  protected readonly machine: StreamsGroupMachine;
  private endpointEpoch = -1;
  private members: MemberAssignment['members'] = [];
  private toldGroup = '';

  constructor(port: KafkaPort, options: StreamsGroupMemberOptions) {
    super(port, options);
    this.machine = new StreamsGroupMachine({ groupInstanceId: options.groupInstanceId, random: options.random ?? Math.random });
  }

  identity(): GroupMemberIdentity {
    const { groupId, memberId, groupInstanceId } = this.options;
    return { groupId, memberId, generation: this.machine.epoch, groupInstanceId };
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

  /** The next heartbeat, which is never far, hears of it. */
  commitRefused(): void {
    this.doubtMembership();
  }

  protected doubtMembership(): void {
    this.dispatch({ kind: 'hurry' });
  }

  protected doubtSession(): void {
    this.dispatch({ kind: 'hurry' });
  }

  protected carryOut(command: StreamsCommand): void {
    const { options } = this;
    const { groupId, logger } = options;
    switch (command.kind) {
      case 'join':
        this.heartbeat(command.attempt, command.broker, 0, null);
        return;
      case 'heartbeat':
        this.heartbeat(command.attempt, command.broker, command.epoch, command.owned);
        return;
      case 'leave':
        this.leaveAs(command.attempt, command.broker, command.epoch);
        return;
      case 'describe':
        this.describe(command.attempt);
        return;
      case 'assigned': {
        const { assignment, added, epoch } = command;
        this.assigned({ generation: epoch, tasks: assignment.active.length, added: added.length }, () =>
          options.onAssigned(this.memberAssignment(assignment), added, epoch),
        );
        return;
      }
      case 'statusChanged':
        if (command.statuses.length > 0)
          logger.info({ groupId, statuses: command.statuses.map(({ detail }) => detail) }, 'the group is not ready');
        return;
      case 'unworkable':
        this.report(unworkableGroup(groupId, command.status));
        return;
      case 'fatal':
        this.report(streamsGroupFailure(options, command.errorCode, command.message));
        return;
    }
  }

  // Requests

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

  private leaveAs(attempt: number, broker: number, memberEpoch: number): void {
    const { groupId, memberId, groupInstanceId } = this.options;
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
    this.goodbye(attempt, this.port.streamsGroupHeartbeat(broker, request), (said) => ({
      kind: 'heartbeatAnswered',
      attempt,
      answer: { ...said, assignment: null },
    }));
  }

  private describe(attempt: number): void {
    const { groupId, memberId } = this.options;
    this.request(
      attempt,
      this.port.admin.describeStreamsGroup(groupId),
      (group) => {
        if (group !== null) this.tellGroup(group);
        return { kind: 'described', attempt, own: ownPlace(group, memberId), groupSettled: isSettled(group) };
      },
      // A coordinator that loads its groups, or any other failure of a look: the member is in the group all the same.
      (code) => code === 'MILL_TRANSPORT' || code === 'MILL_BROKER_ERROR',
    );
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
      release: null,
      running: nothingContested,
      members: this.members,
    };
  }
}

/** An IPv6 host may stand in brackets. */
function endpointOf(server: string | null): StreamsEndpoint | null {
  if (server === null) return null;
  const colon = server.lastIndexOf(':');
  return { host: server.slice(0, colon), port: Number(server.slice(colon + 1)) };
}
