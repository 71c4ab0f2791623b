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
  type AssignorInput,
  type AssignorMember,
  type AssignorSettings,
  type AssignorTask,
  type MemberTarget,
  type TargetAssignment,
  type TaskAssignor,
} from './assignor.js';
import { checkedTarget } from './assignor-answer.js';
import { assignWhere, isBuiltIn } from './built-in-assignors.js';
import type { AssignedMember } from './group-view.js';
import { assignmentVersion, type AssignmentError, type MemberAssignment } from './member-assignment.js';
import type { JoinedSubscription } from './member-subscription.js';
import { releaseFingerprint } from './releases/release.js';
import { nothingContested } from './releases/running-shapes.js';
import { formatTaskId, type TaskId } from './task-id.js';

/** One task and the partitions that it reads: all of them move together. */
export interface TaskSpec {
  readonly task: TaskId;
  readonly inputs: readonly TopicPartition[];
  /** Changelog partitions of its stores; none for a task without state. */
  readonly changelogs: readonly TopicPartition[];
  /** Members that may run it, or copy its state; absent: all. There may be none. */
  readonly runnableBy?: ReadonlySet<string>;
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
  /** Tasks that nobody may begin yet, although nobody claims them. */
  readonly heldUp?: ReadonlySet<string>;
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
    for (const task of wanted.active) {
      const id = formatTaskId(task);
      const isFree = claims.ownerOf(id) === memberId || input.heldUp?.has(id) !== true;
      (isFree && claims.allows(id, memberId) ? given : awaited).push(task);
    }
    active.set(memberId, given);
    withheld.push(...awaited);
    const warmup = wanted.warmup ?? [];
    warmups += warmup.length;
    // Who is to run a task gets a copy while its owner gives it up, so that nothing is closed in between.
    const ready = awaited.filter((task) => stateful.has(formatTaskId(task)));
    copies.set(memberId, { standbyTasks: distinct([...(wanted.standby ?? []), ...warmup, ...ready]), warmupTasks: warmup });
  }
  dropBesideActive(members, copies, (task) => claims.claimants(formatTaskId(task)));

  const inputs = new Map(input.tasks.map((spec) => [formatTaskId(spec.task), spec.inputs]));
  const shared = sharedPart(members, active, copies, withheld.length === 0);
  const assignments = members.map(({ memberId, subscription }): [string, MemberAssignment] => {
    const activeTasks = active.get(memberId) ?? [];
    const partitions = activeTasks.flatMap((task) => inputs.get(formatTaskId(task)) ?? []);
    const own = { activeTasks, partitions, release: releaseOf(subscription), error: refused.get(memberId) ?? null };
    return [memberId, { ...shared, ...(copies.get(memberId) ?? noCopies), ...own }];
  });
  return { assignments: new Map(assignments), withheld, warmups };
}

function releaseOf(subscription: JoinedSubscription | null): string | null {
  const release = subscription?.release ?? null;
  return release === null ? null : releaseFingerprint(release);
}

type MemberCopies = Pick<MemberAssignment, 'standbyTasks' | 'warmupTasks'>;
const noCopies: MemberCopies = { standbyTasks: [], warmupTasks: [] };

function targetOf(input: PlanInput, claims: Claims, refused: ReadonlyMap<string, AssignmentError>): TargetAssignment {
  const takers = input.members.flatMap(({ memberId, groupInstanceId, subscription }): AssignorMember[] => {
    if (subscription === null || subscription.isLeaving || refused.has(memberId)) return [];
    const ownedTasks = subscription.ownedTasks.filter((task) => claims.ownerOf(formatTaskId(task)) === memberId);
    const { processId, tags, standbyTasks, caughtUpTasks, tasksWithState } = subscription;
    return [{ memberId, groupInstanceId, processId, tags, ownedTasks, standbyTasks, caughtUpTasks, tasksWithState }];
  });
  if (takers.length === 0) return new Map();
  const runners = new Map(input.tasks.map(({ task, runnableBy }) => [formatTaskId(task), runnableBy]));
  const mayRun = (task: TaskId, memberId: string): boolean => runners.get(formatTaskId(task))?.has(memberId) !== false;
  const tasks = input.tasks
    .filter(({ task }) => takers.some(({ memberId }) => mayRun(task, memberId)))
    .map(({ task, changelogs }): AssignorTask => ({
      ...task,
      stateful: changelogs.length > 0,
      endOffsetSum: input.endOffsetSums?.get(formatTaskId(task)) ?? null,
    }));
  const { assignor } = input;
  const asked = { tasks, members: takers, settings: input.settings ?? defaultAssignorSettings };
  if (tasks.every((task) => takers.every(({ memberId }) => mayRun(task, memberId)))) return checkedTarget(assignor, asked);
  return isBuiltIn(assignor) ? assignWhere(asked, mayRun) : separateTargets(assignor, asked, mayRun);
}

/** A custom assignor knows nothing of topologies: it is asked for the tasks that the same members may run at a time. */
function separateTargets(
  assignor: TaskAssignor,
  { tasks, members, settings }: AssignorInput,
  mayRun: (task: TaskId, memberId: string) => boolean,
): TargetAssignment {
  const groups = new Map<string, { readonly takers: readonly AssignorMember[]; readonly tasks: AssignorTask[] }>();
  for (const task of tasks) {
    const takers = members.filter(({ memberId }) => mayRun(task, memberId));
    const key = takers.map(({ memberId }) => memberId).join();
    const group = groups.get(key) ?? { takers, tasks: [] };
    group.tasks.push(task);
    groups.set(key, group);
  }
  const target = new Map<string, Required<MemberTarget>>();
  for (const { takers, tasks: own } of groups.values()) {
    const ids = new Set(own.map(formatTaskId));
    const among = (list: readonly TaskId[]): readonly TaskId[] => list.filter((task) => ids.has(formatTaskId(task)));
    const asked = takers.map((member) => ({
      ...member,
      ownedTasks: among(member.ownedTasks),
      standbyTasks: among(member.standbyTasks),
      caughtUpTasks: among(member.caughtUpTasks),
      tasksWithState: member.tasksWithState.filter(({ task }) => ids.has(formatTaskId(task))),
    }));
    for (const [memberId, { active, standby = [], warmup = [] }] of checkedTarget(assignor, { tasks: own, members: asked, settings })) {
      const known = target.get(memberId) ?? { active: [], standby: [], warmup: [] };
      target.set(memberId, {
        active: [...known.active, ...active],
        standby: [...known.standby, ...standby],
        warmup: [...known.warmup, ...warmup],
      });
    }
  }
  return target;
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

/**
 * When the leader can't assign at all (a source topic of all is missing, say): everybody keeps what runs and learns why.
 *
 * Members may have several releases, and equal numbers of two of them are different work.
 *
 * @param things what a member works with when it runs the task: claims that share one of them contest each other
 * @param inputs partitions that the task of this member reads
 */
export function planFailure(
  members: readonly JoinedMember[],
  error: AssignmentError,
  things: (member: JoinedMember, task: TaskId) => readonly string[],
  inputs: (member: JoinedMember, task: TaskId) => readonly TopicPartition[],
): AssignmentPlan {
  const claims = new Claims(members, things);
  const kept = new Map(
    members.map((member) => {
      const { memberId, subscription } = member;
      const isOwn = (task: TaskId): boolean => things(member, task).every((thing) => claims.allows(thing, memberId));
      return [memberId, (subscription?.ownedTasks ?? []).filter(isOwn)];
    }),
  );
  const shared = sharedPart(members, kept, new Map(), true);
  const releases = new Map(members.map(({ memberId, subscription }) => [memberId, releaseOf(subscription)]));
  const assignments = members.map((member): [string, MemberAssignment] => {
    const { memberId } = member;
    const activeTasks = kept.get(memberId) ?? [];
    const release = releases.get(memberId) ?? null;
    // Others' numbers say nothing to a member with another release.
    const told = shared.members.map((other) => (releases.get(other.memberId) === release ? other : { ...other, activeTasks: [] }));
    const own = { activeTasks, partitions: activeTasks.flatMap((task) => inputs(member, task)), release, error };
    return [memberId, { ...shared, ...noCopies, ...own, members: told }];
  });
  return { assignments: new Map(assignments), withheld: [], warmups: 0 };
}

function sharedPart(
  members: readonly JoinedMember[],
  active: ReadonlyMap<string, readonly TaskId[]>,
  copies: ReadonlyMap<string, MemberCopies>,
  settled: boolean,
): Pick<MemberAssignment, 'version' | 'liveTransactionalIds' | 'settled' | 'members' | 'running'> {
  const subscriptions = members.flatMap(({ subscription }) => (subscription === null ? [] : [subscription]));
  return {
    version: Math.min(assignmentVersion, ...subscriptions.map(({ version }) => version)),
    liveTransactionalIds: subscriptions.flatMap(({ transactionalId }) => (transactionalId === null ? [] : [transactionalId])).sort(),
    settled,
    running: nothingContested,
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
 * Who says to run what. Two members can claim one thing only when one of them missed a generation: the claim of the highest
 * generation counts (KIP-792), and of equal ones none.
 *
 * A thing is the task itself where all members have the same numbers.
 */
class Claims {
  private readonly all = new Map<string, string[]>();
  private readonly best = new Map<string, { readonly memberId: string; readonly generation: number; readonly contested: boolean }>();

  constructor(
    members: readonly JoinedMember[],
    things: (member: JoinedMember, task: TaskId) => readonly string[] = (_, task) => [formatTaskId(task)],
  ) {
    for (const member of members) {
      const { memberId, subscription } = member;
      if (subscription === null) continue;
      const { generation } = subscription;
      for (const thing of new Set(subscription.ownedTasks.flatMap((task) => things(member, task)))) {
        const known = this.best.get(thing);
        this.all.set(thing, [...(this.all.get(thing) ?? []), memberId]);
        if (known === undefined || generation > known.generation) this.best.set(thing, { memberId, generation, contested: false });
        else if (generation === known.generation) this.best.set(thing, { ...known, contested: true });
      }
    }
  }

  /** Everybody who says so, rightly or not. */
  claimants(thing: string): readonly string[] {
    return this.all.get(thing) ?? [];
  }

  ownerOf(thing: string): string | null {
    const claim = this.best.get(thing);
    return claim === undefined || claim.contested ? null : claim.memberId;
  }

  /** Nobody claims it, or this member rightly does. */
  allows(thing: string, memberId: string): boolean {
    const claim = this.best.get(thing);
    return claim === undefined || (!claim.contested && claim.memberId === memberId);
  }
}
