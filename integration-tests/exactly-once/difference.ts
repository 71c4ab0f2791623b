/** How a topic's committed records differ from what a model says, counted and in words. */
import type { ReadRecord } from '../faults/topic-tail.js';

export interface Difference {
  /** Records that should be there and are not. */
  readonly lost: number;
  /** Right ones that are there more often than they should. */
  readonly doubled: number;
  /** Records that should not be there at all, or not in that order. */
  readonly different: number;
  readonly text: string;
}

/** By key, what a topic should hold. */
type Wanted<T> = ReadonlyMap<string, readonly T[]>;
type Decode<T> = (value: Buffer | null) => T | null;

/** Each key has exactly the wanted values, once each and in order. */
export function exactly<T>(name: string, records: readonly ReadRecord[], wanted: Wanted<T>, decode: Decode<T>): Difference[] {
  return byKey(name, records, wanted, decode, (list) => list);
}

/** As `exactly`, in whatever order. */
export function inAnyOrder<T>(name: string, records: readonly ReadRecord[], wanted: Wanted<T>, decode: Decode<T>): Difference[] {
  return byKey(name, records, wanted, decode, (list) => list.toSorted());
}

/** Each key has some of the wanted values, each at most once and in order, and the last one. `placeOf` says which of them a value is, from 1. */
export function someInOrder<T>(
  name: string,
  records: readonly ReadRecord[],
  wanted: Wanted<T>,
  decode: (value: Buffer | null) => T,
  placeOf: (value: T) => number,
): Difference[] {
  const last = new Map<string, number>();
  const found: Difference[] = [];
  for (const { key, value, partition, offset } of records) {
    const have = decode(value);
    const place = placeOf(have);
    const before = last.get(key ?? '') ?? 0;
    const want = wanted.get(key ?? '')?.[place - 1];
    const isRight = JSON.stringify(want) === JSON.stringify(have);
    if (place <= before || !isRight) {
      const said = `${JSON.stringify(have)} after place ${before} at ${partition}:${offset}, the model says ${JSON.stringify(want)}`;
      found.push({ lost: 0, doubled: isRight ? 1 : 0, different: isRight ? 0 : 1, text: `${name}: ${key} has ${said}` });
    }
    last.set(key ?? '', place);
  }
  for (const [key, values] of wanted)
    if (last.get(key) !== values.length)
      found.push({ lost: 1, doubled: 0, different: 0, text: `${name}: ${key} ends at ${last.get(key)} instead of ${values.length}` });
  return found;
}

export function sumOf(differences: readonly Difference[]): Omit<Difference, 'text'> {
  const sum = { lost: 0, doubled: 0, different: 0 };
  for (const { lost, doubled, different } of differences) {
    sum.lost += lost;
    sum.doubled += doubled;
    sum.different += different;
  }
  return sum;
}

function byKey<T>(
  name: string,
  records: readonly ReadRecord[],
  wanted: Wanted<T>,
  decode: Decode<T>,
  ordered: (list: readonly string[]) => readonly string[],
): Difference[] {
  const got = new Map<string, string[]>();
  for (const { key, value } of records) append(got, key ?? '(null)', JSON.stringify(decode(value)));
  const found: Difference[] = [];
  for (const key of new Set([...wanted.keys(), ...got.keys()])) {
    const want = ordered((wanted.get(key) ?? []).map((value) => JSON.stringify(value)));
    const have = ordered(got.get(key) ?? []);
    const at = Array.from({ length: Math.max(want.length, have.length) }, (_, i) => i).find((i) => want[i] !== have[i]);
    if (at === undefined) continue;
    const around = (list: readonly string[]): string => `[${list.slice(Math.max(0, at - 2), at + 3).join(',')}]`;
    const text = `${name}: ${key} has ${have.length} values instead of ${want.length}, from place ${at} on ${around(have)} instead of ${around(want)}`;
    found.push({ ...counted(have, want), text });
  }
  return found;
}

function counted(have: readonly string[], want: readonly string[]): Omit<Difference, 'text'> {
  const open = new Map<string, number>();
  for (const value of want) open.set(value, (open.get(value) ?? 0) + 1);
  let doubled = 0;
  let unknown = 0;
  for (const value of have) {
    const left = open.get(value);
    if (left === undefined) unknown++;
    else if (left === 0) doubled++;
    else open.set(value, left - 1);
  }
  const missing = [...open.values()].reduce((sum, left) => sum + left, 0);
  const isOrderAlone = missing + doubled + unknown === 0;
  return { lost: Math.max(0, missing - unknown), doubled, different: isOrderAlone ? 1 : unknown };
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
