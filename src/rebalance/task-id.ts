/**
 * A task: one sub-topology on one partition, the unit that moves between members.
 *
 * The text form `"0_3"` (sub-topology 0, partition 3) is Kafka Streams'; it names state directories and stands in
 * subscriptions, so it must never change.
 */
import { MillraceError } from '../errors.js';

/** One sub-topology on one partition. */
export interface TaskId {
  readonly subTopology: number;
  readonly partition: number;
}

export function formatTaskId(task: TaskId): string {
  return `${task.subTopology}_${task.partition}`;
}

/** Reads the text form; throws MILL_INVARIANT when it is not one. */
export function parseTaskId(text: string): TaskId {
  const match = /^(\d+)_(\d+)$/.exec(text);
  if (match === null) throw new MillraceError('MILL_INVARIANT', `"${text}" is not a task id: expected <sub-topology>_<partition>.`);
  return { subTopology: Number(match[1]), partition: Number(match[2]) };
}

/** Order by sub-topology, then partition. */
export function compareTaskIds(a: TaskId, b: TaskId): number {
  return a.subTopology - b.subTopology || a.partition - b.partition;
}
