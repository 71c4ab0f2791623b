/** Which version of a part of the application runs: that which ran before, as long as a member has it. Pure. */
import type { ReleasedMember } from './accepted-releases.js';
import { applicationParts, type ApplicationPart, type PartVersion } from './application-parts.js';
import { shapeFingerprint, type SubTopologyShape } from './release.js';

/** What the members know of the time before. */
export interface PartHistory {
  readonly accepted: readonly ReleasedMember[];
  /** Those that were in the last generation: the same was told to all of them. */
  readonly incumbents: readonly ReleasedMember[];
}

/**
 * What runs of a part: for each sub-topology its versions, from the least to the most.
 *
 * Of versions that differ in other ways than by what they add, one is chosen, with those that only add to it, or it to them.
 */
export function runningSteps(
  part: ApplicationPart,
  history: PartHistory,
  matching: (pattern: string) => readonly string[],
): readonly (readonly SubTopologyShape[])[] {
  if (part.steps !== null) return [part.steps];
  const chosen = chosenVersion(part.versions, history);
  const partsOf = (versions: readonly PartVersion[]): ApplicationPart[] =>
    applicationParts(
      versions.map((version) => ({ shapes: [...version.values()] })),
      matching,
    );
  const family = part.versions.filter((version) => partsOf([chosen, version]).every(({ steps }) => steps !== null));
  return partsOf(family).flatMap(({ steps, shapes }) =>
    steps !== null ? [steps] : [...shapes].flatMap(([print, shape]) => (chosen.has(print) ? [[shape]] : [])),
  );
}

/** The one that ran, else that of most members that were there before, of most tasks that run, of most members; at last by their fingerprints. */
function chosenVersion(versions: readonly PartVersion[], { accepted, incumbents }: PartHistory): PartVersion {
  const ran = new Set(incumbents.flatMap(({ running }) => [...running.keys()]));
  const holders = (members: readonly ReleasedMember[], version: PartVersion): number =>
    members.filter(({ release }) => sameVersion(version, release.shapes, versions)).length;
  const claims = (version: PartVersion): number =>
    accepted.reduce((sum, { release, ownedTasks }) => {
      const ids = new Set(release.shapes.filter((shape) => version.has(shapeFingerprint(shape))).map(({ id }) => id));
      return sum + ownedTasks.filter(({ subTopology }) => ids.has(subTopology)).length;
    }, 0);
  const rank = (version: PartVersion): readonly number[] => [
    [...version.keys()].filter((print) => ran.has(print)).length,
    holders(incumbents, version),
    claims(version),
    holders(accepted, version),
  ];
  const ranked = versions.map((version) => ({ version, rank: rank(version) }));
  const best = ranked.reduce((chosen, next) => (isHigher(next.rank, chosen.rank) ? next : chosen));
  return best.version;
}

/**
 * For versions that add to each other: the least one that each partition may run with now.
 *
 * It is the one that the partition ran with, or that somebody claims it with; without either, the least of those that were there before. When nobody has that one or a larger one, it is the
 * largest there is.
 *
 * A version that nobody has any more is remembered by its fingerprint alone. A partition that ran with one, and with none of these, runs with the largest: that has what the other one kept, if any
 * here does.
 */
export function lowestSteps(steps: readonly SubTopologyShape[], { accepted, incumbents }: PartHistory): (partition: number) => number {
  const stepOf = ({ release }: ReleasedMember): { readonly step: number; readonly id: number } | null => {
    for (const shape of release.shapes) {
      const step = steps.findIndex((one) => shapeFingerprint(one) === shapeFingerprint(shape));
      if (step >= 0) return { step, id: shape.id };
    }
    return null;
  };
  const present = new Set(accepted.flatMap(({ release }) => release.shapes.map(shapeFingerprint)));
  const largest = Math.max(0, ...accepted.map((member) => stepOf(member)?.step ?? 0));
  const before = incumbents.flatMap((member) => stepOf(member)?.step ?? []);
  const least = before.length === 0 ? 0 : Math.min(...before);
  const ran = new Map<number, number>();
  for (const { running } of incumbents)
    steps.forEach((shape, step) => {
      for (const partition of running.get(shapeFingerprint(shape)) ?? []) ran.set(partition, Math.max(step, ran.get(partition) ?? 0));
    });
  const ofNobody = new Set(
    incumbents.flatMap(({ running }) => [...running].flatMap(([print, partitions]) => (present.has(print) ? [] : [...partitions]))),
  );
  const claimed = new Map<number, number>();
  for (const member of accepted) {
    const known = stepOf(member);
    for (const { subTopology, partition } of member.ownedTasks)
      if (known?.id === subTopology) claimed.set(partition, Math.max(known.step, claimed.get(partition) ?? 0));
  }
  return (partition) =>
    Math.min(largest, Math.max(ran.get(partition) ?? (ofNobody.has(partition) ? largest : least), claimed.get(partition) ?? 0));
}

function sameVersion(version: PartVersion, shapes: readonly SubTopologyShape[], versions: readonly PartVersion[]): boolean {
  const ofPart = new Set(versions.flatMap((one) => [...one.keys()]));
  const own = shapes.map(shapeFingerprint).filter((print) => ofPart.has(print));
  return own.length === version.size && own.every((print) => version.has(print));
}

function isHigher(a: readonly number[], b: readonly number[]): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return (a[at] ?? 0) > (b[at] ?? 0);
  return false;
}
