/**
 * Where releases differ: sub-topologies of different releases that must not run side by side, since they read the same topic, keep the same store, or understand event time in the topics between
 * them in different ways. Such sub-topologies form a part of the application, of which each release has its own version. Pure.
 */
import { shapeFingerprint, type Release, type SubTopologyShape } from './release.js';

/** What one release has in a part, by fingerprint. */
export type PartVersion = ReadonlyMap<string, SubTopologyShape>;

export interface ApplicationPart {
  /** Every shape of it, by fingerprint. */
  readonly shapes: PartVersion;
  /** The different versions of it; one: the releases that have it agree. In the order of their fingerprints. */
  readonly versions: readonly PartVersion[];
  /**
   * When versions only add to each other (the same input, more stores, more of the app's own topics behind it): from the least to the most, each one shape. So each partition can change
   * to a later one at any time, with what it has.
   */
  readonly steps: readonly SubTopologyShape[] | null;
  /** Whether it works with something that the shape works with. */
  meets(shape: SubTopologyShape): boolean;
}

/** @param matching topics that a pattern reads now */
export function applicationParts(
  releases: readonly Pick<Release, 'shapes'>[],
  matching: (pattern: string) => readonly string[],
): ApplicationPart[] {
  const shapes = new Map(releases.flatMap((release) => release.shapes.map((shape) => [shapeFingerprint(shape), shape])));
  const touched = (shape: SubTopologyShape): string[] => [
    ...[...shape.topics, ...shape.patterns.flatMap(matching)].map((topic) => `topic ${topic}`),
    ...shape.stores.map(({ name }) => `store ${name}`),
  ];
  const part = new Map([...shapes.keys()].map((print) => [print, print]));
  const rootOf = (print: string): string => {
    let root = print;
    for (let next = part.get(root); next !== undefined && next !== root; next = part.get(root)) root = next;
    return root;
  };
  const firstWith = new Map<string, string>();
  for (const [print, shape] of shapes) {
    for (const thing of touched(shape)) {
      const first = firstWith.get(thing);
      if (first === undefined) firstWith.set(thing, print);
      else part.set(rootOf(print), rootOf(first));
    }
  }
  for (const [one, other] of eventTimeDisagreements(shapes)) part.set(rootOf(one), rootOf(other));
  const parts = new Map<string, Map<string, SubTopologyShape>>();
  for (const [print, shape] of [...shapes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const root = rootOf(print);
    parts.set(root, (parts.get(root) ?? new Map<string, SubTopologyShape>()).set(print, shape));
  }
  return [...parts.values()].map((own) => {
    const versions = versionsOf(own, releases);
    const things = new Set([...own.values()].flatMap(touched));
    const meets = (shape: SubTopologyShape): boolean => touched(shape).some((thing) => things.has(thing));
    return { shapes: own, versions, steps: stepsOf(versions), meets };
  });
}

/** Both work with a topic of the app, and speak of event time in it in different ways. */
function eventTimeDisagreements(shapes: PartVersion): [string, string][] {
  const seen = new Map<string, [fact: string, print: string][]>();
  for (const [print, shape] of shapes)
    for (const topic of new Set([...shape.internal, ...shape.feeds]))
      seen.set(topic, [...(seen.get(topic) ?? []), [shape.eventTime[topic] ?? '', print]]);
  return [...seen.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined || all.every(([fact]) => fact === first[0])) return [];
    return all.map(([, print]): [string, string] => [print, first[1]]);
  });
}

function versionsOf(part: PartVersion, releases: readonly Pick<Release, 'shapes'>[]): PartVersion[] {
  const versions = new Map<string, PartVersion>();
  for (const release of releases) {
    const own = release.shapes.map(shapeFingerprint).filter((print) => part.has(print));
    if (own.length === 0) continue;
    versions.set(own.sort().join(), new Map([...part].filter(([print]) => own.includes(print))));
  }
  return [...versions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, version]) => version);
}

function stepsOf(versions: readonly PartVersion[]): readonly SubTopologyShape[] | null {
  if (versions.some(({ size }) => size !== 1)) return null;
  const size = ({ stores, feeds }: SubTopologyShape): number => stores.length + feeds.length;
  const steps = versions.flatMap((version) => [...version.values()]).sort((a, b) => size(a) - size(b));
  return steps.every((step, index) => index === 0 || addsTo(steps[index - 1] as SubTopologyShape, step)) ? steps : null;
}

function addsTo(less: SubTopologyShape, more: SubTopologyShape): boolean {
  const stores = new Map(more.stores.map((store) => [store.name, store]));
  return (
    same(less.topics, more.topics) &&
    same(less.patterns, more.patterns) &&
    less.stores.every(({ name, format, changelog }) => stores.get(name)?.format === format && stores.get(name)?.changelog === changelog) &&
    less.feeds.every((topic) => more.feeds.includes(topic)) &&
    [...less.internal, ...less.feeds].every((topic) => (less.eventTime[topic] ?? '') === (more.eventTime[topic] ?? ''))
  );
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index]);
}
