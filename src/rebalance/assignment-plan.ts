/**
 * The leader's work between JoinGroup and SyncGroup: from everybody's subscription to everybody's assignment, in safe steps (KIP-429).
 *
 * Invariant: a task is never assigned to one member while another member of the generation still claims it. Such a task is withheld:
 * its owner sees it missing, gives it up and rejoins, and the follow-up rebalance hands it to its target.
 * Called by the application's `assign` callback, which knows tasks and topics; pure.
 */
import type { TopicPartition } from '../kafka/port.js';
import {
  defaultAssignorSettings,
  type AssignorMember,
  type AssignorSettings,
  type AssignorTask,
  type TargetAssignment,
  type TaskAssignor,
} from './assignor.js';
import { checkedTarget } from './assignor-answer.js';
import type { AssignedMember } from './group-view.js';
import { assignmentVersion, type AssignmentError, type MemberAssignment } from './member-assignment.js';
import type { JoinedSubscription } from './member-subscription.js';
import { formatTaskId, type TaskId } from './task-id.js';

/** One task and the partitions that it reads: all of them move together. */
export interface TaskSpec {
  readonly task: TaskId;
  readonly inputs: readonly TopicPartition[];
  /** Changelog partitions of its stores; none for a task without state. */
  readonly changelogs: readonly TopicPartition[];
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
  /** Default: no copies. */
  readonly settings?: AssignorSettings;
  /** Ends of a task's changelogs, summed, by task id; a task that is absent has none that are known. */
  readonly endOffsetSums?: ReadonlyMap<string, number>;
  /** Members that must not run anything, by member id, and why (another topology, for instance). */
  readonly refused?: ReadonlyMap<string, AssignmentError>;
}

export interface AssignmentPlan {
  readonly assignments: ReadonlyMap<string, MemberAssignment>;
  /** Tasks that wait for their owner to give them up. */
  readonly withheld: readonly TaskId[];
  /** Copies that are to run where they are once they have caught up: the target is not reached yet. */
  readonly warmups: number;
}

/** Errors: MILL_ASSIGNOR_INVALID, and whatever a custom assignor throws, as that. */
export function planAssignment(input: PlanInput): AssignmentPlan {
  const { members, refused = new Map<string, AssignmentError>() } = input;
  const claims = new Claims(members);
  const target = targetOf(input, claims, refused);
  const withheld: TaskId[] = [];
  const active = new Map<string, TaskId[]>();
  const copies = new Map<string, MemberCopies>();
  const stateful = new Set(input.tasks.filter(({ changelogs }) => changelogs.length > 0).map(({ task }) => formatTaskId(task)));
  let warmups = 0;
  for (const [memberId, wanted] of target) {
    const given: TaskId[] = [];
    const awaited: TaskId[] = [];
    for (const task of wanted.active) (claims.allows(task, memberId) ? given : awaited).push(task);
    active.set(memberId, given);
    withheld.push(...awaited);
    const warmup = wanted.warmup ?? [];
    warmups += warmup.length;
    // Who is to run a task gets a copy while its owner gives it up, so that nothing is closed in between.
    const ready = awaited.filter((task) => stateful.has(formatTaskId(task)));
    copies.set(memberId, { standbyTasks: distinct([...(wanted.standby ?? []), ...warmup, ...ready]), warmupTasks: warmup });
  }
  dropBesideActive(members, copies, (task) => claims.claimants(task));

  const inputs = new Map(input.tasks.map((spec) => [formatTaskId(spec.task), spec.inputs]));
  const shared = sharedPart(members, active, copies, withheld.length === 0);
  const assignments = members.map(({ memberId }): [string, MemberAssignment] => {
    const activeTasks = active.get(memberId) ?? [];
    const partitions = activeTasks.flatMap((task) => inputs.get(formatTaskId(task)) ?? []);
    return [memberId, { ...shared, ...(copies.get(memberId) ?? noCopies), activeTasks, partitions, error: refused.get(memberId) ?? null }];
  });
  return { assignments: new Map(assignments), withheld, warmups };
}

type MemberCopies = Pick<MemberAssignment, 'standbyTasks' | 'warmupTasks'>;
const noCopies: MemberCopies = { standbyTasks: [], warmupTasks: [] };

function targetOf(input: PlanInput, claims: Claims, refused: ReadonlyMap<string, AssignmentError>): TargetAssignment {
  const takers = input.members.flatMap(({ memberId, groupInstanceId, subscription }): AssignorMember[] => {
    if (subscription === null || refused.has(memberId)) return [];
    const ownedTasks = subscription.ownedTasks.filter((task) => claims.ownerOf(task) === memberId);
    const { processId, tags, standbyTasks, caughtUpTasks, tasksWithState } = subscription;
    return [{ memberId, groupInstanceId, processId, tags, ownedTasks, standbyTasks, caughtUpTasks, tasksWithState }];
  });
  if (takers.length === 0) return new Map();
  const tasks = input.tasks.map(({ task, changelogs }): AssignorTask => ({
    ...task,
    stateful: changelogs.length > 0,
    endOffsetSum: input.endOffsetSums?.get(formatTaskId(task)) ?? null,
  }));
  return checkedTarget(input.assignor, { tasks, members: takers, settings: input.settings ?? defaultAssignorSettings });
}

/** No copy in a process that runs the task still, although it is to give it up. */
function dropBesideActive(
  members: readonly JoinedMember[],
  copies: Map<string, MemberCopies>,
  claimants: (task: TaskId) => readonly string[],
): void {
  const processes = new Map(members.map(({ memberId, subscription }) => [memberId, subscription?.processId ?? memberId]));
  for (const [memberId, { standbyTasks, warmupTasks }] of copies) {
    const here = processes.get(memberId);
    const mayCopy = (task: TaskId): boolean => !claimants(task).some((claimant) => processes.get(claimant) === here);
    copies.set(memberId, { standbyTasks: standbyTasks.filter(mayCopy), warmupTasks: warmupTasks.filter(mayCopy) });
  }
}

function distinct(tasks: readonly TaskId[]): TaskId[] {
  return [...new Map(tasks.map((task) => [formatTaskId(task), task])).values()];
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
  const shared = sharedPart(members, kept, new Map(), true);
  const assignments = members.map(({ memberId }): [string, MemberAssignment] => {
    const activeTasks = kept.get(memberId) ?? [];
    return [memberId, { ...shared, ...noCopies, activeTasks, partitions: activeTasks.flatMap(inputs), error }];
  });
  return { assignments: new Map(assignments), withheld: [], warmups: 0 };
}

function sharedPart(
  members: readonly JoinedMember[],
  active: ReadonlyMap<string, readonly TaskId[]>,
  copies: ReadonlyMap<string, MemberCopies>,
  settled: boolean,
): Pick<MemberAssignment, 'version' | 'liveTransactionalIds' | 'settled' | 'members'> {
  const subscriptions = members.flatMap(({ subscription }) => (subscription === null ? [] : [subscription]));
  return {
    version: Math.min(assignmentVersion, ...subscriptions.map(({ version }) => version)),
    liveTransactionalIds: subscriptions.flatMap(({ transactionalId }) => (transactionalId === null ? [] : [transactionalId])).sort(),
    settled,
    members: members
      .flatMap(({ memberId, subscription }): AssignedMember[] => {
        if (subscription === null) return [];
        const { processId, thread, applicationServer, tags } = subscription;
        const { standbyTasks } = copies.get(memberId) ?? noCopies;
        return [{ memberId, processId, thread, applicationServer, tags, activeTasks: active.get(memberId) ?? [], standbyTasks }];
      })
      .sort((a, b) => (a.memberId < b.memberId ? -1 : 1)),
  };
}

/**
 * Who says to run what. Two members can claim one task only when one of them missed a generation: the claim of the highest
 * generation counts (KIP-792), and of equal ones none.
 */
class Claims {
  private readonly all = new Map<string, string[]>();
  private readonly best = new Map<string, { readonly memberId: string; readonly generation: number; readonly contested: boolean }>();

  constructor(members: readonly JoinedMember[]) {
    for (const { memberId, subscription } of members) {
      if (subscription === null) continue;
      const { generation } = subscription;
      for (const task of subscription.ownedTasks) {
        const key = formatTaskId(task);
        const known = this.best.get(key);
        this.all.set(key, [...(this.all.get(key) ?? []), memberId]);
        if (known === undefined || generation > known.generation) this.best.set(key, { memberId, generation, contested: false });
        else if (generation === known.generation) this.best.set(key, { ...known, contested: true });
      }
    }
  }

  /** Everybody who says so, rightly or not. */
  claimants(task: TaskId): readonly string[] {
    return this.all.get(formatTaskId(task)) ?? [];
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
