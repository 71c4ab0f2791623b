import type { ActiveTask } from './active-task.js';

export interface PlaceInWork {
  readonly taskId: string;
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
}

/** Where pending user functions of the tasks are. */
export function placesInWork(tasks: Iterable<ActiveTask>): PlaceInWork[] {
  return [...tasks].flatMap(({ id, task }) => {
    const place = task.inWork;
    return place === null ? [] : [{ taskId: id, ...place }];
  });
}

/** In words, for the log. */
export function whyWaiting([first]: readonly PlaceInWork[]): string {
  if (first === undefined) return 'the commit is under way';
  const { taskId, topic, partition, offset } = first;
  return `a function of task ${taskId} has not returned (${topic === null ? 'a punctuation or flush' : `record of ${topic}-${partition} at offset ${offset}`})`;
}
