/** Whom the group takes in: members whose release can share it with those that were there before. The others are told what differs, and those that run go on. Pure. */
import type { AssignmentError } from '../member-assignment.js';
import { releaseFingerprint, type Release } from './release.js';
import { releaseDifferences } from './release-differences.js';
import type { RunningShapes } from './running-shapes.js';
import type { TaskId } from '../task-id.js';

/** A member as far as its release matters. */
export interface ReleasedMember {
  readonly memberId: string;
  readonly release: Release;
  /** The last one that it had an assignment in; -1: none. */
  readonly generation: number;
  /** As it was told then. */
  readonly running: RunningShapes;
  /** What it runs, by its own numbers. */
  readonly ownedTasks: readonly TaskId[];
}

export interface AcceptedReleases {
  readonly accepted: readonly ReleasedMember[];
  /** Those of them that were in the last generation: they were there before. */
  readonly incumbents: readonly ReleasedMember[];
  readonly refused: ReadonlyMap<string, AssignmentError>;
}

/** In a group that begins, the release of most members was there before. */
export function acceptReleases(members: readonly ReleasedMember[]): AcceptedReleases {
  const last = Math.max(-1, ...members.map(({ generation }) => generation));
  const incumbents = last < 0 ? [] : members.filter(({ generation }) => generation === last);
  const accepted: ReleasedMember[] = [...incumbents];
  const refused = new Map<string, AssignmentError>();
  const known = new Map(incumbents.map(({ release }) => [releaseFingerprint(release), release]));
  for (const group of byRelease(members.filter((member) => !incumbents.includes(member)))) {
    const { release } = group[0];
    const differences = [...new Set([...known.values()].flatMap((running) => releaseDifferences(running, release)))];
    if (differences.length === 0) {
      accepted.push(...group);
      known.set(releaseFingerprint(release), release);
    } else {
      for (const { memberId } of group) refused.set(memberId, refusalFor(differences));
    }
  }
  return { accepted, incumbents, refused };
}

function refusalFor(differences: readonly string[]): AssignmentError {
  return {
    code: 'MILL_TOPOLOGY_MISMATCH',
    message:
      `This topology can't share the group with the one that runs: ${differences.join('; ')}. ` +
      'Give what has changed another name, or the new topology another applicationId; what runs is not touched',
  };
}

/** Largest first, then in a fixed order. */
function byRelease(members: readonly ReleasedMember[]): [ReleasedMember, ...ReleasedMember[]][] {
  const groups = new Map<string, [ReleasedMember, ...ReleasedMember[]]>();
  for (const member of members) {
    const print = releaseFingerprint(member.release);
    const group = groups.get(print);
    if (group === undefined) groups.set(print, [member]);
    else group.push(member);
  }
  return [...groups].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1)).map(([, group]) => group);
}
