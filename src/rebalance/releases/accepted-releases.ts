/** Whom the group takes in: members whose release can share it with those that were there before. The others are told what differs, and those that run go on. Pure. */
import type { AssignmentError } from '../member-assignment.js';
import { encodeRelease, shapeFingerprint, type Release } from './release.js';
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
  /** The leader can't make out its topology: it is refused whatever it has run, and what it claims still counts. */
  readonly refusal?: AssignmentError;
}

export interface AcceptedReleases {
  readonly accepted: readonly ReleasedMember[];
  /** Those of them that were in the last generation: they were there before. */
  readonly incumbents: readonly ReleasedMember[];
  readonly refused: ReadonlyMap<string, AssignmentError>;
}

/** Releases that say the same, facts that don't move tasks included. */
type ReleaseText = string;

/**
 * - Members of the last generation are never refused.
 * - An instance of a release that runs is always taken in: halfway through an upgrade the group goes on with what it has, however the two differ.
 * - The group has two topologies at a time. With a third, state would depend on the order of restarts: what one of them has begun to keep, another may lack and go on without.
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
  for (const [text, group] of byRelease(members.filter((member) => !incumbents.includes(member)))) {
    const { release } = group[0];
    const refusal = running.has(text) ? null : refusalOf(release, [...running.values()], topologies);
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

const maxTopologies = 2;

const upgradeUnderWay: AssignmentError = {
  code: 'MILL_TOPOLOGY_MISMATCH',
  message:
    'An upgrade is under way: the group has instances of two other topologies, and two can share it at a time. ' +
    'Finish the upgrade or go back, so that the instances of one of the two are stopped, then start this one; what runs is not touched',
};

/** Whatever the numbers of its sub-topologies are. */
function topologyPrint({ shapes }: Release): string {
  return shapes.map(shapeFingerprint).sort().join();
}

function refusalFor(differences: readonly string[]): AssignmentError {
  return {
    code: 'MILL_TOPOLOGY_MISMATCH',
    message:
      `This topology can't share the group with the one that runs: ${differences.join('; ')}. ` +
      'Give what has changed another name, or the new topology another applicationId; what runs is not touched',
  };
}

/** The topology of most members first, then in a fixed order. */
function byRelease(members: readonly ReleasedMember[]): [ReleaseText, [ReleasedMember, ...ReleasedMember[]]][] {
  const groups = new Map<ReleaseText, [ReleasedMember, ...ReleasedMember[]]>();
  const sizes = new Map<string, number>();
  for (const member of members) {
    const [text, topology] = [encodeRelease(member.release), topologyPrint(member.release)];
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [member]);
    else group.push(member);
    sizes.set(topology, (sizes.get(topology) ?? 0) + 1);
  }
  const rank = ([text, [{ release }]]: [ReleaseText, [ReleasedMember, ...ReleasedMember[]]]) => {
    const topology = topologyPrint(release);
    return { size: sizes.get(topology) ?? 0, order: `${topology} ${text}` };
  };
  return [...groups].sort((a, b) => {
    const [one, other] = [rank(a), rank(b)];
    return other.size - one.size || (one.order < other.order ? -1 : 1);
  });
}
