/**
 * Which shape of a contested part runs on which partitions, as of an assignment. The leader tells it with the assignments and every member says it again at its next join, so that the group
 * keeps to it whoever leads, dies or comes: an older generation's word counts for nothing.
 */
import type { TaskId } from '../task-id.js';
import { decodeTaskSet, encodeTaskSet } from '../task-set-codec.js';

/** Partitions by the fingerprint of the shape. */
export type RunningShapes = ReadonlyMap<string, ReadonlySet<number>>;

export const nothingContested: RunningShapes = new Map();

/** As JSON: the partitions of all shapes are one set of tasks, a shape's place in the list its first number. */
export interface RunningShapesBody {
  readonly shapes: readonly string[];
  readonly on: string;
}

export function encodeRunningShapes(running: RunningShapes): RunningShapesBody | undefined {
  if (running.size === 0) return undefined;
  const shapes = [...running.keys()].sort();
  const tasks = shapes.flatMap((shape, subTopology): TaskId[] =>
    [...(running.get(shape) ?? [])].map((partition) => ({ subTopology, partition })),
  );
  return { shapes, on: encodeTaskSet(tasks) };
}

/** Throws when it is not one. */
export function decodeRunningShapes(body: RunningShapesBody | undefined): RunningShapes {
  if (body === undefined) return nothingContested;
  const running = new Map(body.shapes.map((shape) => [shape, new Set<number>()]));
  for (const { subTopology, partition } of decodeTaskSet(body.on)) running.get(body.shapes[subTopology] ?? '')?.add(partition);
  return running;
}
