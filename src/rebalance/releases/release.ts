/**
 * What a member's topology is to the group: its sub-topologies as far as two members must agree before a task may move from one to the other. Functions, serdes and stateless operators are no
 * part of it, so a release that changes nothing else is the same to the group.
 *
 * Numbers of sub-topologies shift when others are added, so a sub-topology is known by what it reads and keeps: its fingerprint. Each member speaks of tasks by its own numbers.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { RecentResults } from './recent-results.js';

/** A store, as far as its changelog depends on it. */
export interface StoreShape {
  readonly name: string;
  /** Kind and form of its rows. */
  readonly format: string;
  /** Full name of the topic that holds its history, be it a source topic; null: none does. */
  readonly changelog: string | null;
}

/** One sub-topology. All topics are under their full names; all lists are sorted. */
export interface SubTopologyShape {
  /** Its number in the member's topology: the first half of the task ids that the member uses. */
  readonly id: number;
  /** What it reads, patterns apart. */
  readonly topics: readonly string[];
  /** Those of `topics` that are the app's own. */
  readonly internal: readonly string[];
  /** Regular expressions as text, `/source/flags`. */
  readonly patterns: readonly string[];
  readonly stores: readonly StoreShape[];
  /** The app's own topics that it writes. */
  readonly feeds: readonly string[];
  /** Users' topics that it writes, as far as they are known by name; no part of the fingerprint. */
  readonly sinks: readonly string[];
  /** What it makes that no name here speaks of; no part of the fingerprint. */
  readonly unnamed: readonly UnnamedResult[];
  /** Of internal topics that carry event time: which sub-topologies, by number, send theirs through it. */
  readonly eventTime: Readonly<Record<string, string>>;
}

/** `sinks`: topics that a function chooses. `steps`: what the app does itself in a step that leads to no sink and uses no store. */
export type UnnamedResult = 'sinks' | 'steps';

export type ReleaseMode = 'streaming' | 'batch';

export interface Release {
  readonly shapes: readonly SubTopologyShape[];
  /** How results are told: in one way at a time. */
  readonly mode: ReleaseMode;
}

/** Equal when tasks may move between two members whose sub-topologies these are. */
export function shapeFingerprint(shape: SubTopologyShape): string {
  let known = fingerprints.get(shape);
  if (known === undefined) {
    const { topics, patterns, stores, feeds, eventTime } = shape;
    const facts = [
      topics,
      patterns,
      stores.map(({ name, format, changelog }) => [name, format, changelog]),
      feeds,
      sortedEntries(eventTime),
    ];
    fingerprints.set(shape, (known = digest(JSON.stringify(facts))));
  }
  return known;
}

const fingerprints = new WeakMap<SubTopologyShape, string>();

/** Equal when the members use the same task ids for the same work, in the same mode. Of streaming it is what it was before there were modes. */
export function releaseFingerprint(release: Release): string {
  let known = releaseFingerprints.get(release);
  if (known === undefined) {
    const shapes = release.shapes.map((shape) => [shape.id, shapeFingerprint(shape)]);
    known = digest(JSON.stringify(release.mode === 'streaming' ? shapes : [release.mode, ...shapes]));
    releaseFingerprints.set(release, known);
  }
  return known;
}

const releaseFingerprints = new WeakMap<Release, string>();

/** Longer ones are compressed: the broker keeps what all members say in one record. */
const compressFromChars = 512;

/** A list of shapes for streaming, as ever. A version that knows no modes can't read an object, and so gives its sender no task. */
export function encodeRelease({ shapes, mode }: Release): string {
  const text = JSON.stringify(mode === 'streaming' ? shapes : { mode, shapes });
  return text.length < compressFromChars ? text : compressed.of(text);
}

/** Every member says its release at each join, and most say the same: the leader reads each text once. */
const compressed = new RecentResults((text) => deflateRawSync(text).toString('base64'));
const decoded = new RecentResults(readRelease);

/** Throws when the text is not a release, or one in a mode that this version does not know. Facts that a later version adds are ignored, absent ones are none. */
export function decodeRelease(text: string): Release {
  return decoded.of(text);
}

function readRelease(text: string): Release {
  const json = /^[[{]/.test(text) ? text : inflateRawSync(Buffer.from(text, 'base64')).toString();
  const body = JSON.parse(json) as ShapeBody[] | { readonly mode: string; readonly shapes: ShapeBody[] };
  if (Array.isArray(body)) return { shapes: body.map(readShape), mode: 'streaming' };
  if (body.mode !== 'batch') throw new Error(`a release in mode ${body.mode}`);
  return { shapes: body.shapes.map(readShape), mode: body.mode };
}

type ShapeBody = Partial<SubTopologyShape>;

function readShape(shape: ShapeBody): SubTopologyShape {
  return {
    id: shape.id ?? 0,
    topics: shape.topics ?? [],
    internal: shape.internal ?? [],
    patterns: shape.patterns ?? [],
    stores: (shape.stores ?? []).map(({ name, format, changelog }) => ({ name, format, changelog })),
    feeds: shape.feeds ?? [],
    sinks: shape.sinks ?? [],
    unnamed: shape.unnamed ?? [],
    eventTime: shape.eventTime ?? {},
  };
}

function sortedEntries(facts: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
