/**
 * The leader's work between JoinGroup and SyncGroup: from everybody's subscription to everybody's assignment, in safe steps (KIP-429).
 *
 * Invariant: a task is never assigned to one member while another member of the generation still claims it. Such a task is withheld:
 * its owner sees it missing, gives it up and rejoins, and the follow-up rebalance hands it to its target.
 * Called by the application's `assign` callback, which knows tasks and topics; pure.
 */
import type { TopicPartition } from '../kafka/port.js';
import type { AssignorMember, TaskAssignor } from './assignor.js';
import type { AssignedMember } from './group-view.js';
import { assignmentVersion, type AssignmentError, type MemberAssignment } from './member-assignment.js';
import type { JoinedSubscription } from './member-subscription.js';
import { formatTaskId, type TaskId } from './task-id.js';

/** One task and the partitions that it reads: all of them move together. */
export interface TaskSpec {
  readonly task: TaskId;
  readonly inputs: readonly TopicPartition[];
}

export interface JoinedMember {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  /** null: not understood (a foreign or broken client); such a member gets nothing. */
  readonly subscription: JoinedSubscription | null;
}

export interface PlanInput {
  readonly tasks: readonly TaskSpec[];
  readonly members: readonly JoinedMember[];
  readonly assignor: TaskAssignor;
  /** Members that must not run anything, by member id, and why (another topology, for instance). */
  readonly refused?: ReadonlyMap<string, AssignmentError>;
}

export interface AssignmentPlan {
  readonly assignments: ReadonlyMap<string, MemberAssignment>;
  /** Tasks that wait for their owner to give them up. */
  readonly withheld: readonly TaskId[];
}

export function planAssignment(input: PlanInput): AssignmentPlan {
  const { tasks, members, assignor, refused = new Map<string, AssignmentError>() } = input;
  const claims = new Claims(members);
  const takers = members.flatMap(({ memberId, subscription }): AssignorMember[] => {
    if (subscription === null || refused.has(memberId)) return [];
    const ownedTasks = subscription.ownedTasks.filter((task) => claims.ownerOf(task) === memberId);
    return [{ memberId, processId: subscription.processId, ownedTasks, tasksWithState: subscription.tasksWithState }];
  });
  const target =
    takers.length === 0 ? new Map<string, readonly TaskId[]>() : assignor.assign({ tasks: tasks.map(({ task }) => task), members: takers });

  const withheld: TaskId[] = [];
  const active = new Map<string, TaskId[]>();
  for (const [memberId, wanted] of target) {
    const given: TaskId[] = [];
    for (const task of wanted) (claims.allows(task, memberId) ? given : withheld).push(task);
    active.set(memberId, given);
  }

  const inputs = new Map(tasks.map((spec) => [formatTaskId(spec.task), spec.inputs]));
  const shared = sharedPart(members, active, withheld.length === 0);
  const assignments = members.map(({ memberId }): [string, MemberAssignment] => {
    const activeTasks = active.get(memberId) ?? [];
    const partitions = activeTasks.flatMap((task) => inputs.get(formatTaskId(task)) ?? []);
    return [memberId, { ...shared, activeTasks, partitions, error: refused.get(memberId) ?? null }];
  });
  return { assignments: new Map(assignments), withheld };
}

/** When the leader can't assign at all (a source topic is missing, say): everybody keeps what runs and learns why. */
export function planFailure(
  members: readonly JoinedMember[],
  error: AssignmentError,
  inputs: (task: TaskId) => readonly TopicPartition[],
): AssignmentPlan {
  const claims = new Claims(members);
  const kept = new Map(
    members.map(({ memberId, subscription }) => [
      memberId,
      (subscription?.ownedTasks ?? []).filter((task) => claims.allows(task, memberId)),
    ]),
  );
  const shared = sharedPart(members, kept, true);
  const assignments = members.map(({ memberId }): [string, MemberAssignment] => {
    const activeTasks = kept.get(memberId) ?? [];
    return [memberId, { ...shared, activeTasks, partitions: activeTasks.flatMap(inputs), error }];
  });
  return { assignments: new Map(assignments), withheld: [] };
}

function sharedPart(
  members: readonly JoinedMember[],
  active: ReadonlyMap<string, readonly TaskId[]>,
  settled: boolean,
): Pick<MemberAssignment, 'version' | 'standbyTasks' | 'liveTransactionalIds' | 'settled' | 'members'> {
  const subscriptions = members.flatMap(({ subscription }) => (subscription === null ? [] : [subscription]));
  return {
    version: Math.min(assignmentVersion, ...subscriptions.map(({ version }) => version)),
    standbyTasks: [],
    liveTransactionalIds: subscriptions.flatMap(({ transactionalId }) => (transactionalId === null ? [] : [transactionalId])).sort(),
    settled,
    members: members
      .flatMap(({ memberId, subscription }): AssignedMember[] => {
        if (subscription === null) return [];
        const { processId, thread, applicationServer, tags } = subscription;
        return [{ memberId, processId, thread, applicationServer, tags, activeTasks: active.get(memberId) ?? [], standbyTasks: [] }];
      })
      .sort((a, b) => (a.memberId < b.memberId ? -1 : 1)),
  };
}

/**
 * Who says to run what. Two members can claim one task only when one of them missed a generation: the claim of the highest
 * generation counts (KIP-792), and of equal ones none.
 */
class Claims {
  private readonly best = new Map<string, { readonly memberId: string; readonly generation: number; readonly contested: boolean }>();

  constructor(members: readonly JoinedMember[]) {
    for (const { memberId, subscription } of members) {
      if (subscription === null) continue;
      const { generation } = subscription;
      for (const task of subscription.ownedTasks) {
        const key = formatTaskId(task);
        const known = this.best.get(key);
        if (known === undefined || generation > known.generation) this.best.set(key, { memberId, generation, contested: false });
        else if (generation === known.generation) this.best.set(key, { ...known, contested: true });
      }
    }
  }

  ownerOf(task: TaskId): string | null {
    const claim = this.best.get(formatTaskId(task));
    return claim === undefined || claim.contested ? null : claim.memberId;
  }

  /** Nobody claims the task, or this member rightly does. */
  allows(task: TaskId, memberId: string): boolean {
    const claim = this.best.get(formatTaskId(task));
    return claim === undefined || (!claim.contested && claim.memberId === memberId);
  }
}
