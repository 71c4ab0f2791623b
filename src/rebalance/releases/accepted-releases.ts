/** Whom the group takes in: members whose release can share it with those that were there before. The others are told what differs, and those that run go on. Pure. */
import type { AssignmentError } from '../member-assignment.js';
import { encodeRelease, releaseFingerprint, shapeFingerprint, type Release, type ReleaseMode } from './release.js';
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
  /** It can't have tasks of its topology: it is refused whatever it has run, and what it claims still counts. */
  readonly refusal?: AssignmentError;
  /** Its version of Millrace does not know releases: as leader it would take equal numbers of two of them for one task. */
  readonly isOlder?: boolean;
}

export interface AcceptedReleases {
  readonly accepted: readonly ReleasedMember[];
  /** Those of them that were in the last generation: they were there before. */
  readonly incumbents: readonly ReleasedMember[];
  readonly refused: ReadonlyMap<string, AssignmentError>;
}

type ReleaseGroup = [ReleasedMember, ...ReleasedMember[]];

/**
 * - Members of the last generation are never refused.
 * - An instance of a release that runs is always taken in: halfway through an upgrade the group goes on with what it has, however the two differ.
 * - The group has two topologies at a time. With a third, state would depend on the order of restarts: what one of them has begun to keep, another may lack and go on without.
 * - It has one mode at a time, `streaming` or `batch`: else each instance would tell a part of the results, in its own way.
 * - It has one topology while a member does not know releases, since any member may come to lead. Who joins is refused, be it that member or another topology.
 *
 * In a group that begins, the topology of most members was there before.
 */
export function acceptReleases(all: readonly ReleasedMember[]): AcceptedReleases {
  const refused = new Map(all.flatMap(({ memberId, refusal }) => (refusal === undefined ? [] : [[memberId, refusal]])));
  const members = all.filter(({ memberId }) => !refused.has(memberId));
  const last = Math.max(-1, ...members.map(({ generation }) => generation));
  const incumbents = last < 0 ? [] : members.filter(({ generation }) => generation === last);
  const accepted: ReleasedMember[] = [...incumbents];
  const running = new Map(incumbents.map(({ release }) => [encodeRelease(release), release]));
  const topologies = new Set(incumbents.map(({ release }) => topologyPrint(release)));
  for (const group of byRelease(members.filter((member) => !incumbents.includes(member)))) {
    const { release } = group[0];
    // Facts that don't move tasks are compared too.
    const text = encodeRelease(release);
    const refusal = running.has(text)
      ? olderVersionOf(group, accepted)
      : (otherModeOf(release, accepted) ?? olderVersionOf(group, accepted) ?? refusalOf(release, [...running.values()], topologies));
    if (refusal === null) {
      accepted.push(...group);
      running.set(text, release);
      topologies.add(topologyPrint(release));
    } else {
      for (const { memberId } of group) refused.set(memberId, refusal);
    }
  }
  return { accepted, incumbents, refused };
}

function refusalOf(joining: Release, running: readonly Release[], topologies: ReadonlySet<string>): AssignmentError | null {
  if (topologies.size >= maxTopologies && !topologies.has(topologyPrint(joining))) return upgradeUnderWay;
  const differences = [...new Set(running.flatMap((release) => releaseDifferences(release, joining)))];
  return differences.length === 0 ? null : refusalFor(differences);
}

function otherModeOf({ mode }: Release, accepted: readonly ReleasedMember[]): AssignmentError | null {
  const other = accepted.find(({ release }) => release.mode !== mode);
  return other === undefined ? null : refusalOfMode(mode, other.release.mode);
}

/** All members of the group have one release, and all or none know of releases. */
function olderVersionOf(group: ReleaseGroup, accepted: readonly ReleasedMember[]): AssignmentError | null {
  const prints = new Set([...group, ...accepted].map(({ release }) => releaseFingerprint(release)));
  if (prints.size < 2) return null;
  if (group[0].isOlder === true) return olderVersion;
  return accepted.some(({ isOlder }) => isOlder === true) ? olderVersionRuns : null;
}

const olderVersion: AssignmentError = {
  code: 'MILL_TOPOLOGY_MISMATCH',
  message:
    'The group has instances of two topologies, and this version of Millrace knows one only, should it come to lead: deploy the version of the other instances first; what runs is not touched',
};

const olderVersionRuns: AssignmentError = {
  code: 'MILL_TOPOLOGY_MISMATCH',
  message:
    'The group has an instance with a version of Millrace that knows one topology only, should it come to lead: deploy this version on all instances first, then the new topology; what runs is not touched',
};

function refusalOfMode(own: ReleaseMode, other: ReleaseMode): AssignmentError {
  return {
    code: 'MILL_TOPOLOGY_MISMATCH',
    message:
      `This topology was built for ${own} mode, and the group runs one that was built for ${other} mode: each would tell a part of the results. ` +
      'Let the other instances end first, then start this one; what runs is not touched',
  };
}

const maxTopologies = 2;

const upgradeUnderWay: AssignmentError = {
  code: 'MILL_TOPOLOGY_MISMATCH',
  message:
    'An upgrade is under way: the group has instances of two other topologies, and two can share it at a time. ' +
    'Finish the upgrade or go back, so that the instances of one of the two are stopped, then start this one; what runs is not touched',
};

/** Whatever the numbers of its sub-topologies are. */
function topologyPrint({ shapes, mode }: Release): string {
  return [mode, ...shapes.map(shapeFingerprint).sort()].join();
}

function refusalFor(differences: readonly string[]): AssignmentError {
  return {
    code: 'MILL_TOPOLOGY_MISMATCH',
    message:
      `This topology can't share the group with the one that runs: ${differences.join('; ')}. ` +
      'Give what has changed another name, or the new topology another applicationId; what runs is not touched',
  };
}

/** Members that say the same and know releases, or don't. The topology of most members first, then in a fixed order; of one release those first that know releases. */
function byRelease(members: readonly ReleasedMember[]): ReleaseGroup[] {
  const groups = new Map<string, ReleaseGroup>();
  const sizes = new Map<string, number>();
  for (const member of members) {
    const topology = topologyPrint(member.release);
    const order = [topology, encodeRelease(member.release), member.isOlder === true ? 1 : 0].join(' ');
    const group = groups.get(order);
    if (group === undefined) groups.set(order, [member]);
    else group.push(member);
    sizes.set(topology, (sizes.get(topology) ?? 0) + 1);
  }
  const size = ([{ release }]: ReleaseGroup): number => sizes.get(topologyPrint(release)) ?? 0;
  return [...groups].sort(([one, some], [other, others]) => size(others) - size(some) || (one < other ? -1 : 1)).map(([, group]) => group);
}
