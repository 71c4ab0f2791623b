/**
 * Ranges: of a sub-topology with `n` partitions, member `i` of `m` runs `ceil(i·n/m) … ceil((i+1)·n/m) − 1`, as Flink gives key groups to the instances of an operator.
 *
 * Members are in the order of their group instance ids, numbers in them as numbers, so that `app-10` comes after `app-9`; those without one come after, by process. One that
 * comes last shifts the bounds; one that comes or goes in the middle moves all after it.
 */
import type { AssignorMember, AssignorTask } from './assignor.js';
import { rangeOf } from './key-groups.js';
import type { TaskId } from './task-id.js';

export function placeByRange(tasks: readonly AssignorTask[], members: readonly AssignorMember[]): ReadonlyMap<string, readonly TaskId[]> {
  const instances = [...members].sort(compareInstances);
  const placed = new Map<string, TaskId[]>(instances.map(({ memberId }) => [memberId, []]));
  for (const partitions of partitionsBySubTopology(tasks)) {
    instances.forEach(({ memberId }, index) => {
      const { start, end } = rangeOf(index, instances.length, partitions.length);
      for (const { subTopology, partition } of partitions.slice(start, end + 1)) placed.get(memberId)?.push({ subTopology, partition });
    });
  }
  return placed;
}

const inNumericOrder = new Intl.Collator('en', { numeric: true });

function compareInstances(a: AssignorMember, b: AssignorMember): number {
  if (a.groupInstanceId !== null && b.groupInstanceId !== null) return inNumericOrder.compare(a.groupInstanceId, b.groupInstanceId);
  if (a.groupInstanceId !== b.groupInstanceId) return a.groupInstanceId === null ? 1 : -1;
  return inNumericOrder.compare(a.processId, b.processId) || inNumericOrder.compare(a.memberId, b.memberId);
}

/** Tasks are in order. */
function partitionsBySubTopology(tasks: readonly AssignorTask[]): AssignorTask[][] {
  const groups = new Map<number, AssignorTask[]>();
  for (const task of tasks) {
    const group = groups.get(task.subTopology);
    if (group === undefined) groups.set(task.subTopology, [task]);
    else group.push(task);
  }
  return [...groups.values()];
}
