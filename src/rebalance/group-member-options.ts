import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { TopicPartition } from '../kafka/port.js';
import type { JoinedMember } from './assignment-plan.js';
import type { GroupKnowledge } from './group-membership.js';
import type { MemberAssignment } from './member-assignment.js';
import type { MemberShellOptions } from './member-shell.js';
import type { MemberSubscription } from './member-subscription.js';
import type { TaskId } from './task-id.js';

/** What a group member is told at its making, and whom it calls. */
export interface GroupMemberOptions extends MemberShellOptions {
  /** Static membership (KIP-345): unique per member, kept over restarts. Default null. */
  readonly groupInstanceId?: string | null;
  /** Milliseconds without a heartbeat after which the broker drops the member. Default 10 000. */
  readonly sessionTimeoutMs?: number;
  /** Milliseconds that a rebalance waits for a member to give up tasks and rejoin. Default 300 000. */
  readonly rebalanceTimeoutMs?: number;
  /** Milliseconds between heartbeats, which is also how fast a rebalance is noticed. Default 1000. */
  readonly heartbeatIntervalMs?: number;
  /** Last id told by `onMemberId` before this process was restarted: its member is replaced at once instead of waiting for its session to end. */
  readonly previousMemberId?: string;

  /** Asked at each join. */
  subscription(): MemberSubscription;
  /** Input partitions of a task, as the consumer protocol shows them to Kafka's tools. */
  inputPartitions(task: TaskId): readonly TopicPartition[];
  /**
   * Called on the leader: every member's assignment (`planAssignment`, `planFailure`). A rejection with a transport error is tried again;
   * any other is fatal to this member. Heartbeats go on meanwhile.
   */
  assign(
    members: readonly JoinedMember[],
    generation: number,
  ): Promise<ReadonlyMap<string, MemberAssignment>> | ReadonlyMap<string, MemberAssignment>;

  /**
   * After each rebalance, changed or not. `added` are the tasks to start. A revocation waits for the promise, so start restoring here
   * and do not wait for its end. Rejecting is fatal to the member.
   */
  onAssigned(assignment: MemberAssignment, added: readonly TaskId[], generation: number): MaybeAsync;
  /** Who is in the group, before `onAssigned` is called with the assignment that says so. */
  onGroup?(group: GroupKnowledge): void;
  /** The member's id has changed; store it for `previousMemberId`. Empty when there is none. */
  onMemberId?(memberId: string): void;
  /** In [0, 1). Default Math.random. */
  readonly random?: () => number;
  /** Tells two runs of one process apart. Default a random UUID. */
  readonly incarnation?: string;
}
