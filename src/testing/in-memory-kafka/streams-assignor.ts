/** Where the tasks of a streams group are to run: even shares, and as much as can be where it was. */
import { noTasks, type TaskSets } from './streams-tasks.js';

export interface AssignableMember {
  readonly memberId: string;
  /** Members of a process share its disk: it never has a task twice. */
  readonly processId: string;
  /** What it was to have before. */
  readonly before: TaskSets;
}

export function assignStreamsTasks(
  tasks: readonly string[],
  members: readonly AssignableMember[],
  copiesOf: (task: string) => number,
): ReadonlyMap<string, TaskSets> {
  const places = members
    .map((member) => ({ member, active: new Set<string>(), standby: new Set<string>() }))
    .sort((a, b) => (a.member.memberId < b.member.memberId ? -1 : 1));
  if (places.length === 0) return new Map();
  type Place = (typeof places)[number];
  const share = Math.floor(tasks.length / places.length);
  let extras = tasks.length % places.length;
  const kept = (place: Place): string[] => tasks.filter((task) => place.member.before.active.has(task));
  for (const place of [...places].sort((a, b) => kept(b).length - kept(a).length)) {
    const mine = kept(place);
    const room = share + (extras > 0 && mine.length > share ? 1 : 0);
    if (room > share) extras--;
    for (const task of mine.slice(0, room)) place.active.add(task);
  }
  for (const task of tasks) {
    if (places.some(({ active }) => active.has(task))) continue;
    const least = Math.min(...places.map(({ active }) => active.size));
    const free = places.filter(({ active }) => active.size < share || (active.size === share && least === share));
    const known = free.find(({ member }) => member.before.standby.has(task));
    const emptiest = free.reduce((best, place) => (place.active.size < best.active.size ? place : best), free[0] as Place);
    (known ?? emptiest).active.add(task);
  }
  const load = ({ active, standby }: Place): number => active.size + standby.size;
  for (const task of tasks) {
    for (let copies = 0; copies < copiesOf(task); copies++) {
      const taken = new Set(
        places.filter(({ active, standby }) => active.has(task) || standby.has(task)).map(({ member }) => member.processId),
      );
      const free = places.filter(({ member }) => !taken.has(member.processId));
      const [first] = free;
      if (first === undefined) break;
      const known = free.find(({ member }) => member.before.standby.has(task) || member.before.active.has(task));
      (known ?? free.reduce((best, place) => (load(place) < load(best) ? place : best), first)).standby.add(task);
    }
  }
  return new Map(places.map(({ member, active, standby }) => [member.memberId, { active, standby }]));
}

/** Of a member that has nothing to get yet. */
export function targetOf(targets: ReadonlyMap<string, TaskSets>, memberId: string): TaskSets {
  return targets.get(memberId) ?? noTasks;
}
