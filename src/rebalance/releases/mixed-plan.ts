/** The leader's plan for a group whose members have several releases: planned by numbers that are common to the group, told to each member by its own. Pure. */
import { planAssignment, type AssignmentPlan, type JoinedMember, type PlanInput } from '../assignment-plan.js';
import type { AssignmentError, MemberAssignment } from '../member-assignment.js';
import type { JoinedSubscription } from '../member-subscription.js';
import { formatTaskId, type TaskId } from '../task-id.js';
import type { ReleasedMember } from './accepted-releases.js';
import type { Release } from './release.js';
import type { ReleaseMix } from './release-mix.js';
import { nothingContested } from './running-shapes.js';

/** A member with the release that it has, if that is known. */
export function releasedMember({ memberId, subscription }: JoinedMember, release: Release | null): ReleasedMember[] {
  if (subscription === null || release === null) return [];
  const { generation, lastRun, ownedTasks } = subscription;
  return [
    {
      memberId,
      release,
      generation: Math.max(generation, lastRun?.generation ?? -1),
      running: lastRun?.running ?? nothingContested,
      ownedTasks,
      ...(subscription.release === null && { isOlder: true }),
    },
  ];
}

/**
 * What a member without a known release runs is known by its own numbers alone, and those say nothing here: nothing begins anywhere until it has given that up.
 *
 * @param refused members of which no release is known, besides those that the mix refuses
 */
export function planMixed(
  mix: ReleaseMix,
  refused: ReadonlyMap<string, AssignmentError>,
  input: Pick<PlanInput, 'members' | 'assignor' | 'settings' | 'endOffsetSums'>,
): AssignmentPlan {
  const members = input.members.map((member): JoinedMember => {
    const { memberId, subscription } = member;
    return subscription === null ? member : { ...member, subscription: inCommon(subscription, (task) => mix.commonTask(memberId, task)) };
  });
  const unknownRun = input.members.some(
    ({ memberId, subscription }) => refused.has(memberId) && (subscription?.ownedTasks ?? []).length > 0,
  );
  const plan = planAssignment({
    ...input,
    members,
    tasks: mix.tasks,
    heldUp: unknownRun ? new Set(mix.tasks.map(({ task }) => formatTaskId(task))) : mix.heldUp,
    refused: new Map([...refused, ...mix.refused]),
  });
  const running = mix.remember(new Map([...plan.assignments].map(([memberId, { activeTasks }]) => [memberId, activeTasks])));
  const assignments = [...plan.assignments].map(([memberId, assignment]): [string, MemberAssignment] => {
    const own = (tasks: readonly TaskId[]): TaskId[] => tasks.flatMap((task) => mix.ownTask(memberId, task) ?? []);
    const copies = (tasks: readonly TaskId[]): TaskId[] => own(tasks.filter((task) => mix.keepsState(memberId, task)));
    return [
      memberId,
      {
        ...assignment,
        activeTasks: own(assignment.activeTasks),
        standbyTasks: copies(assignment.standbyTasks),
        warmupTasks: copies(assignment.warmupTasks),
        members: assignment.members.map((member) => ({
          ...member,
          activeTasks: own(member.activeTasks),
          standbyTasks: own(member.standbyTasks),
        })),
        running,
      },
    ];
  });
  return { ...plan, assignments: new Map(assignments) };
}

function inCommon(subscription: JoinedSubscription, commonTask: (task: TaskId) => TaskId | null): JoinedSubscription {
  const common = (tasks: readonly TaskId[]): TaskId[] => tasks.flatMap((task) => commonTask(task) ?? []);
  return {
    ...subscription,
    ownedTasks: common(subscription.ownedTasks),
    standbyTasks: common(subscription.standbyTasks),
    caughtUpTasks: common(subscription.caughtUpTasks),
    tasksWithState: subscription.tasksWithState.flatMap(({ task, offsetSum }) => {
      const known = commonTask(task);
      return known === null ? [] : [{ task: known, offsetSum }];
    }),
  };
}
