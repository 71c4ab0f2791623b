/**
 * Sets of tasks as short text: `0:0-3,7;2:5` is tasks 0_0 to 0_3, 0_7 and 2_5.
 *
 * Every assignment names the tasks of all members, so the group's record on the broker grows with members × tasks: runs of partitions keep it small.
 */
import { compareTaskIds, type TaskId } from './task-id.js';

export function encodeTaskSet(tasks: readonly TaskId[]): string {
  const sorted = [...tasks].sort(compareTaskIds);
  let text = '';
  for (let at = 0; at < sorted.length;) {
    const { subTopology, partition: first } = sorted[at] as TaskId;
    let last = first;
    for (at++; isNext(sorted[at], subTopology, last); at++) last++;
    const run = first === last ? `${first}` : `${first}-${last}`;
    const group = `${subTopology}:`;
    const open = text.slice(text.lastIndexOf(';') + 1).startsWith(group);
    text += open ? `,${run}` : `${text === '' ? '' : ';'}${group}${run}`;
  }
  return text;
}

/** Throws when the text is not a task set. */
export function decodeTaskSet(text: string): TaskId[] {
  if (text === '') return [];
  return text.split(';').flatMap((group) => {
    const match = /^(\d+):(.+)$/.exec(group);
    if (match === null) throw new Error(`"${group}" is not a set of tasks`);
    const subTopology = Number(match[1]);
    return (match[2] as string).split(',').flatMap((run) => {
      const ends = /^(\d+)(?:-(\d+))?$/.exec(run);
      if (ends === null) throw new Error(`"${run}" is not a run of partitions`);
      const first = Number(ends[1]);
      const last = ends[2] === undefined ? first : Number(ends[2]);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ({ subTopology, partition: first + i }));
    });
  });
}

function isNext(task: TaskId | undefined, subTopology: number, last: number): boolean {
  return task?.subTopology === subTopology && task.partition === last + 1;
}
