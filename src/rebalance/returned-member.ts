import type { MemberAssignment } from './member-assignment.js';
import { releaseFingerprint, type Release } from './releases/release.js';

/** What a static member says of itself that the group should know. */
export interface StaticIdentity {
  readonly memberId: string;
  readonly processId: string;
  readonly transactionalId: string | null;
  readonly applicationServer: string | null;
}

/**
 * A static member that comes back within its session gets the assignment of before, without a rebalance (KIP-345). That is what it should get unless the assignment speaks of
 * somebody else: then the others have to learn of the new address or disk, and a rebalance that the old process was to ask for, because tasks wait to be handed over, would never come.
 */
export function needsRebalanceAfterReturn(assignment: MemberAssignment, own: StaticIdentity): boolean {
  if (assignment.members.some(({ memberId }) => memberId === own.memberId)) return false;
  if (!assignment.settled) return true;
  const isKnown = assignment.members.some(
    ({ processId, applicationServer }) => processId === own.processId && applicationServer === own.applicationServer,
  );
  return !isKnown || (own.transactionalId !== null && !assignment.liveTransactionalIds.includes(own.transactionalId));
}

/**
 * The assignment as it is for a member with this release. One that was made for another release, which the process before had, speaks of tasks by other numbers: nothing of it is taken over, and it
 * counts as unsettled, so that the member asks for one of its own.
 */
export function assignmentFor(release: Release | null, assignment: MemberAssignment): MemberAssignment {
  if (isMadeFor(release, assignment)) return assignment;
  return { ...assignment, activeTasks: [], standbyTasks: [], warmupTasks: [], partitions: [], members: [], settled: false };
}

/** Whether the assignment speaks of tasks by the numbers of this release. */
export function isMadeFor(release: Release | null, assignment: MemberAssignment): boolean {
  return release === null || assignment.release === null || assignment.release === releaseFingerprint(release);
}
