import { describe, expect, it } from '@jest/globals';
import { exactly, inAnyOrder, someInOrder, sumOf } from '../../integration-tests/exactly-once/difference.js';
import type { ReadRecord } from '../../integration-tests/faults/topic-tail.js';

const records = (...values: readonly string[]): ReadRecord[] =>
  values.map((value, offset) => ({ partition: 0, offset, timestamp: 0, key: 'k', value: Buffer.from(value), headers: new Map() }));
const wanted = (...values: readonly string[]): ReadonlyMap<string, string[]> => new Map([['k', values.slice()]]);

describe('what is found in a topic that should hold each wanted record once, in order', () => {
  const found = (have: readonly string[], want: readonly string[]) => sumOf(exactly('out', records(...have), wanted(...want), String));

  it.each([
    ['all of it', ['a', 'b'], ['a', 'b'], { lost: 0, doubled: 0, different: 0 }],
    ['a record that is missing', ['a'], ['a', 'b'], { lost: 1, doubled: 0, different: 0 }],
    ['all of it missing', [], ['a', 'b'], { lost: 2, doubled: 0, different: 0 }],
    ['a record twice', ['a', 'b', 'b'], ['a', 'b'], { lost: 0, doubled: 1, different: 0 }],
    ['another record in its place', ['a', 'x'], ['a', 'b'], { lost: 0, doubled: 0, different: 1 }],
    ['one twice and one missing', ['a', 'a'], ['a', 'b'], { lost: 1, doubled: 1, different: 0 }],
    ['another order', ['b', 'a'], ['a', 'b'], { lost: 0, doubled: 0, different: 1 }],
    ['equal records as often as wanted', ['a', 'a'], ['a', 'a'], { lost: 0, doubled: 0, different: 0 }],
  ])('%s', (_, have, want, counts) => {
    expect(found(have, want)).toEqual(counts);
  });

  it('a key that nobody wanted', () => {
    expect(sumOf(exactly('out', records('a'), new Map(), String))).toEqual({ lost: 0, doubled: 0, different: 1 });
  });

  it('in any order, where order does not matter', () => {
    expect(inAnyOrder('out', records('b', 'a'), wanted('a', 'b'), String)).toEqual([]);
    expect(sumOf(inAnyOrder('out', records('b', 'b'), wanted('a', 'b'), String))).toEqual({ lost: 1, doubled: 1, different: 0 });
  });
});

describe('what is found in a topic that may leave out all but the last', () => {
  const placeOf = (value: string): number => Number(value.slice(1));
  const found = (have: readonly string[]) => sumOf(someInOrder('out', records(...have), wanted('v1', 'v2', 'v3'), String, placeOf));

  it.each([
    ['some, and the last', ['v1', 'v3'], { lost: 0, doubled: 0, different: 0 }],
    ['not the last', ['v1', 'v2'], { lost: 1, doubled: 0, different: 0 }],
    ['one again', ['v2', 'v2', 'v3'], { lost: 0, doubled: 1, different: 0 }],
    ['one that is none of them', ['v4'], { lost: 1, doubled: 0, different: 1 }],
  ])('%s', (_, have, counts) => {
    expect(found(have)).toEqual(counts);
  });
});
