/** A member of the application's group on a real coordinator: carries out what `GroupMachine` asks for, over the client port. */
import { randomUUID } from 'node:crypto';
import type { GroupMemberIdentity, JoinGroupResponse, KafkaPort } from '../kafka/port.js';
import type { JoinedMember } from './assignment-plan.js';
import { consumerProtocolType } from './consumer-protocol.js';
import { groupFailure } from './group-failure.js';
import { GroupMachine } from './group-machine.js';
import type { SessionVerdict } from './group-membership.js';
import type { GroupMemberOptions } from './group-member-options.js';
import type { ClassicCommand, EncodedAssignment, GroupEvent, OwnershipClaim } from './group-protocol.js';
import { decodeMemberAssignment, emptyAssignment, encodeMemberAssignment } from './member-assignment.js';
import {
  decodeMemberSubscription,
  encodeMemberSubscription,
  subscriptionVersion,
  type LastRun,
  type MemberSubscription,
} from './member-subscription.js';
import { MemberShell } from './member-shell.js';
import type { Release } from './releases/release.js';
import { assignmentFor, isMadeFor } from './returned-member.js';

export const groupProtocolName = 'millrace-v1';
export const defaultSessionTimeoutMs = 10_000;
export const defaultRebalanceTimeoutMs = 300_000;
export const defaultHeartbeatIntervalMs = 1000;

export class GroupMember extends MemberShell<GroupEvent, ClassicCommand, GroupMemberOptions> {
  protected readonly machine: GroupMachine;
  private readonly groupInstanceId: string | null;
  private readonly sessionTimeoutMs: number;
  private readonly incarnation: string;
  private members: JoinGroupResponse['members'] = [];
  /** Of the last join. */
  private release: Release | null = null;
  private lastRun: LastRun | null = null;

  constructor(port: KafkaPort, options: GroupMemberOptions) {
    super(port, options);
    this.groupInstanceId = options.groupInstanceId ?? null;
    this.sessionTimeoutMs = options.sessionTimeoutMs ?? defaultSessionTimeoutMs;
    this.incarnation = options.incarnation ?? randomUUID();
    this.machine = new GroupMachine({
      sessionTimeoutMs: this.sessionTimeoutMs,
      heartbeatIntervalMs: options.heartbeatIntervalMs ?? defaultHeartbeatIntervalMs,
      rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? defaultRebalanceTimeoutMs,
      groupInstanceId: this.groupInstanceId,
      previousMemberId: options.previousMemberId ?? '',
      random: options.random ?? Math.random,
    });
  }

  identity(): GroupMemberIdentity {
    return this.identityIn(this.machine.generation);
  }

  /** While a join is answered the broker is a generation ahead of its members for a moment; the tasks kept are still this member's, so a commit may be sent again. */
  override commitIdentity(): GroupMemberIdentity {
    return this.identityIn(this.machine.commitGeneration);
  }

  private identityIn(generation: number): GroupMemberIdentity {
    return { groupId: this.options.groupId, memberId: this.machine.memberId, generation, groupInstanceId: this.groupInstanceId };
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
    if (this.hasEnded) return 'lost';
    const verdict = this.sessionDoubtful ? 'lost' : 'ok';
    this.dispatch({ kind: 'sessionChecked' });
    return verdict;
  }

  protected doubtMembership(): void {
    this.dispatch({ kind: 'membershipDoubted' });
  }

  commitRefused({ memberId }: GroupMemberIdentity): void {
    this.dispatch({ kind: 'memberForgotten', memberId });
  }

  protected doubtSession(): void {
    this.dispatch({ kind: 'tick' });
  }

  protected carryOut(command: ClassicCommand): void {
    const { options, port } = this;
    const { groupId } = options;
    switch (command.kind) {
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
          assignment: errorCode === 0 ? assignmentFor(this.release, decodeMemberAssignment(assignment)) : null,
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
      case 'leave': {
        const { attempt, broker, memberId } = command;
        const answer = port.leaveGroup(broker, { groupId, memberId, groupInstanceId: this.groupInstanceId });
        this.goodbye(attempt, answer, ({ errorCode }) => ({ kind: 'leaveAnswered', attempt, errorCode }));
        return;
      }
      case 'memberIdChanged':
        options.onMemberId?.(command.memberId);
        return;
      case 'assigned': {
        const { assignment, added, generation } = command;
        const { activeTasks, members, liveTransactionalIds, running, error } = assignment;
        // At once: the next join may come before the application has taken the assignment over. Who is refused, or comes back with another release, has had no part in it.
        if (error === null && isMadeFor(this.release, assignment)) this.lastRun = { generation, running };
        this.assigned({ generation, tasks: activeTasks.length, added: added.length }, () => {
          options.onGroup?.({ members, liveTransactionalIds, generation });
          return options.onAssigned(assignment, added, generation);
        });
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
    }
  }

  // Requests

  private join(attempt: number, broker: number, memberId: string, claim: OwnershipClaim): void {
    const { options } = this;
    let known: MemberSubscription;
    try {
      known = options.subscription();
    } catch (error) {
      this.giveUp(error);
      return;
    }
    this.release = known.release;
    const subscription = {
      ...known,
      version: subscriptionVersion,
      ownedTasks: claim.tasks,
      generation: claim.generation,
      lastRun: this.lastRun,
      nonce: `${this.incarnation}.${claim.wish}`,
      isLeaving: claim.isLeaving,
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
}
