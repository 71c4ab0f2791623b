/** The assignors behind the names of the option `assignor`: each places the running tasks in its own way; warm-ups and copies follow the same rules. */
import type { AssignorInput, AssignorMember, AssignorTask, TargetAssignment, TaskAssignor } from './assignor.js';
import { placeByRange } from './range-placement.js';
import { placeRestricted } from './restricted-placement.js';
import { placeStandbys } from './standby-placement.js';
import { StateBook } from './state-book.js';
import { placeSticky } from './sticky-placement.js';
import { compareTaskIds, type TaskId } from './task-id.js';
import { holdBackCold } from './warm-ups.js';

export type AssignorName = 'sticky' | 'range';

/** By member id, for tasks and members in order. */
type Placement = (tasks: readonly AssignorTask[], book: StateBook) => ReadonlyMap<string, readonly TaskId[]>;

/** Balance first, then where the state is, then as few moves as possible. */
export const stickyAssignor: TaskAssignor = assignorOf('sticky', placeSticky);

/** Contiguous ranges of partitions, as Flink gives out key groups: who has what follows from the members' order alone. */
export const rangeAssignor: TaskAssignor = assignorOf('range', (tasks, book) => placeByRange(tasks, book.members));

export function builtInAssignor(name: AssignorName): TaskAssignor {
  return name === 'range' ? rangeAssignor : stickyAssignor;
}

export function isBuiltIn(assignor: TaskAssignor): boolean {
  return assignor === stickyAssignor || assignor === rangeAssignor;
}

/** For tasks that not every member has in its topology: whatever the name of the assignor, evenly over those that do. */
export function assignWhere(input: AssignorInput, mayRun: (task: TaskId, memberId: string) => boolean): TargetAssignment {
  return assignBy(input, placeRestricted, mayRun);
}

function assignorOf(name: AssignorName, place: Placement): TaskAssignor {
  return { name, assign: (input) => assignBy(input, place) };
}

function assignBy(
  { tasks: given, members, settings }: AssignorInput,
  place: Placement,
  mayRun?: (task: TaskId, memberId: string) => boolean,
): TargetAssignment {
  const tasks = [...given].sort(compareTaskIds);
  const book = new StateBook([...members].sort(compareMembers), settings.acceptableRecoveryLag, mayRun);
  const target = place(tasks, book);
  const { active, warmup } = holdBackCold(tasks, target, book, settings.maxWarmupReplicas);
  const { numStandbyReplicas: replicas, rackAwareTags } = settings;
  const standby = placeStandbys({ tasks, target, active, warmup, replicas, rackAwareTags }, book);
  return new Map(
    members.map(({ memberId }) => [
      memberId,
      { active: active.get(memberId) ?? [], standby: standby.get(memberId) ?? [], warmup: warmup.get(memberId) ?? [] },
    ]),
  );
}

function compareMembers(a: AssignorMember, b: AssignorMember): number {
  if (a.processId !== b.processId) return a.processId < b.processId ? -1 : 1;
  return a.memberId < b.memberId ? -1 : a.memberId > b.memberId ? 1 : 0;
}
