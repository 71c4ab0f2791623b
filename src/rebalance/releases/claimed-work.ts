import type { JoinedMember } from '../assignment-plan.js';
import { formatTaskId, type TaskId } from '../task-id.js';
import type { Release } from './release.js';

/**
 * What a member works with when it runs the task, whatever numbers its release has: two claims meet when they share one of these. Where the release is not known only its numbers are, so its claims
 * meet those of members with the same topology alone.
 */
export function claimedThings({ subscription }: JoinedMember, release: Release | null, task: TaskId): readonly string[] {
  const shape = release?.shapes.find(({ id }) => id === task.subTopology);
  if (shape === undefined) return [`task ${formatTaskId(task)} of ${subscription?.topologyFingerprint ?? ''}`];
  return [
    ...[...shape.topics, ...shape.patterns].map((topic) => `topic ${topic} ${task.partition}`),
    ...shape.stores.map(({ name }) => `store ${name} ${task.partition}`),
  ];
}
