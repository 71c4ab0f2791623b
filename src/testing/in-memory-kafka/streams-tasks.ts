/** Sets of tasks as a streams group's coordinator keeps them: by role, a task as `subTopology_partition`. 4.4 gives no warm-ups. */
import type { StreamsAssignment, StreamsTasks } from '../../kafka/streams-groups.js';

export interface TaskSets {
  readonly active: ReadonlySet<string>;
  readonly standby: ReadonlySet<string>;
}

export const noTasks: TaskSets = { active: new Set(), standby: new Set() };

export function taskOf(subTopology: string, partition: number): string {
  return `${subTopology}_${partition}`;
}

export function taskSetsOf({ active, standby, warmup }: StreamsAssignment): TaskSets {
  return { active: setOf(active), standby: setOf([...standby, ...warmup]) };
}

export function assignmentOf({ active, standby }: TaskSets): StreamsAssignment {
  return { active: bySubTopology(active), standby: bySubTopology(standby), warmup: [] };
}

/** What `pick` says of the two sets of each role. */
export function inEachRole(
  a: TaskSets,
  b: TaskSets,
  pick: (a: ReadonlySet<string>, b: ReadonlySet<string>) => ReadonlySet<string>,
): TaskSets {
  return { active: pick(a.active, b.active), standby: pick(a.standby, b.standby) };
}

export const both = (a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> => new Set([...a].filter((task) => b.has(task)));
export const without = (a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> => new Set([...a].filter((task) => !b.has(task)));
export const union = (a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> => new Set([...a, ...b]);

export function isEmpty({ active, standby }: TaskSets): boolean {
  return active.size === 0 && standby.size === 0;
}

export function isSame(a: TaskSets, b: TaskSets): boolean {
  return isEmpty(inEachRole(a, b, without)) && isEmpty(inEachRole(b, a, without));
}

function setOf(tasks: readonly StreamsTasks[]): Set<string> {
  return new Set(tasks.flatMap(({ subTopology, partitions }) => partitions.map((partition) => taskOf(subTopology, partition))));
}

function bySubTopology(tasks: ReadonlySet<string>): StreamsTasks[] {
  const found = new Map<string, number[]>();
  for (const task of tasks) {
    const cut = task.lastIndexOf('_');
    const subTopology = task.slice(0, cut);
    const partitions = found.get(subTopology) ?? [];
    partitions.push(Number(task.slice(cut + 1)));
    found.set(subTopology, partitions);
  }
  return [...found]
    .map(([subTopology, partitions]) => ({ subTopology, partitions: partitions.sort((a, b) => a - b) }))
    .sort((a, b) => (a.subTopology < b.subTopology ? -1 : 1));
}
