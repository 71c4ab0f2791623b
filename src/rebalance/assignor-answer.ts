/** Checks what an assignor answers before anybody acts on it: a custom one is somebody's own code, and a fault in it must not run a task twice or leave one out. */
import { MillraceError } from '../errors.js';
import type { AssignorInput, MemberTarget, TargetAssignment, TaskAssignor } from './assignor.js';
import { formatTaskId, type TaskId } from './task-id.js';

/** The answer of the assignor. Errors: MILL_ASSIGNOR_INVALID when it throws, or breaks a rule of `TaskAssignor.assign`; `details.faults` has all that was found. */
export function checkedTarget(assignor: TaskAssignor, input: AssignorInput): TargetAssignment {
  let target: TargetAssignment;
  try {
    target = assignor.assign(input);
  } catch (cause) {
    throw new MillraceError('MILL_ASSIGNOR_INVALID', `The assignor "${assignor.name}" failed: ${String(cause)}`, { cause });
  }
  const faults = target instanceof Map ? faultsOf(target, input) : ['the answer is not a Map'];
  if (faults.length === 0) return target;
  const shown = faults.slice(0, 5).join('; ');
  throw new MillraceError('MILL_ASSIGNOR_INVALID', `The assignor "${assignor.name}" gave an answer that can't be used: ${shown}.`, {
    details: { faults },
  });
}

function faultsOf(target: TargetAssignment, { tasks, members }: AssignorInput): string[] {
  const faults: string[] = [];
  const stateful = new Map(tasks.map((task) => [formatTaskId(task), task.stateful]));
  const processes = new Map(members.map(({ memberId, processId }) => [memberId, processId]));
  const runners = new Map<string, string>();
  for (const [memberId, given] of target as ReadonlyMap<string, Partial<MemberTarget>>) {
    if (!processes.has(memberId)) faults.push(`there is no member ${memberId}`);
    if (given.active === undefined) {
      faults.push(`member ${memberId} has no list of active tasks`);
      continue;
    }
    for (const task of given.active) {
      const id = formatTaskId(task);
      if (!stateful.has(id)) faults.push(`there is no task ${id}`);
      else if (runners.has(id)) faults.push(`task ${id} is active twice`);
      runners.set(id, processes.get(memberId) ?? '');
    }
  }
  for (const id of stateful.keys()) if (!runners.has(id)) faults.push(`task ${id} is active nowhere`);
  const seen = new Set<string>();
  for (const [memberId, given] of target) {
    const processId = processes.get(memberId) ?? '';
    for (const id of copiesOf(given)) {
      if (stateful.get(id) !== true) faults.push(`task ${id} has no state to copy`);
      else if (runners.get(id) === processId) faults.push(`the copy of task ${id} is in the process that runs it`);
      else if (seen.has(`${id}@${processId}`)) faults.push(`task ${id} is copied twice in one process`);
      seen.add(`${id}@${processId}`);
    }
  }
  return faults;
}

function copiesOf(given: MemberTarget): string[] {
  return [...(given.standby ?? []), ...(given.warmup ?? [])].map((task: TaskId) => formatTaskId(task));
}
