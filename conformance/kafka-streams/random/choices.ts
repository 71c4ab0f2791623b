/** Pieces that the random topologies share. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../case.js';

export const joiner = fc.constant('{l}|{r}');

export function oneOf(...values: readonly Json[]): fc.Arbitrary<Json> {
  return fc.constantFrom(...values);
}

/** An option that is there once in so many times. */
export function seldom(field: string, times: number, value: fc.Arbitrary<Json> = fc.constant(true)): fc.Arbitrary<JsonObject> {
  return fc.oneof(
    { weight: times - 1, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: value.map((chosen) => ({ [field]: chosen })) },
  );
}

/** An object with the fields of all of them. */
export function merged(...parts: readonly fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> {
  return fc.tuple(...parts).map((chosen) => Object.assign({}, ...chosen) as JsonObject);
}

export function fields(of: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> {
  return fc.record(of);
}

/** How a table is kept: plainly, or in versions with a short or a long memory. */
export const store = oneOf('kv', 'kv', { versionedMs: 300_000 }, { versionedMs: 10 });

export const buffer = oneOf({}, { maxRecords: 1 }, { maxRecords: 2 }, { maxBytes: 200 }, { maxBytes: 300 });

const grace = oneOf(0, 0, 3, 10, 25);

export const timeWindows: fc.Arbitrary<JsonObject> = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(1, 5), fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), grace)
  .map(([steps, unit, share, hops, graceMs]) => {
    const sizeMs = steps * unit;
    return { type: 'time', sizeMs, graceMs, ...(hops ? { advanceMs: 1 + Math.floor(share * (sizeMs - 1)) } : {}) };
  });

export const sessionWindows = fields({ type: fc.constant('session'), gapMs: fc.integer({ min: 1, max: 12 }), graceMs: grace });

export const slidingWindows = fields({ type: fc.constant('sliding'), timeDifferenceMs: fc.integer({ min: 1, max: 24 }), graceMs: grace });

/** Of all optimisations; they change what is built, and of results only the order in a self join. */
export const optimization = seldom(
  'config',
  3,
  oneOf(
    { 'topology.optimization': 'all' },
    { 'topology.optimization': 'reuse.ktable.source.topics' },
    { 'topology.optimization': 'merge.repartition.topics' },
    { 'topology.optimization': 'single.store.self.join' },
  ),
);
