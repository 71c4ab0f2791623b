import type { GroupPhase } from './group-protocol.js';

export function isOver(phase: GroupPhase): boolean {
  return phase === 'left' || phase === 'failed';
}

/** Phases in which the generation stands and a coordinator look-up does not lead to a join. */
export function inGeneration(phase: GroupPhase): boolean {
  return phase === 'stable' || phase === 'revoking' || phase === 'leaving';
}

/** Phases in which nothing goes on before the group does. */
export function isWaiting(phase: GroupPhase): boolean {
  return phase === 'finding' || phase === 'joining' || phase === 'assigning' || phase === 'syncing';
}
