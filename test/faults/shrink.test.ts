import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shrink } from '../../integration-tests/faults/shrink.js';

const ten = Array.from({ length: 10 }, (_, i) => i);
const needs =
  (...needed: readonly number[]) =>
  (candidate: readonly number[]) =>
    Promise.resolve(needed.every((one) => candidate.includes(one)));

describe('shrinking a list that fails', () => {
  it('finds the one that matters', async () => {
    expect(await shrink(ten, needs(7), 100)).toEqual([7]);
  });

  it('finds those that matter together, in their order', async () => {
    expect(await shrink(ten, needs(1, 8), 100)).toEqual([1, 8]);
  });

  it('gives what it has when its tries are over', async () => {
    let asked = 0;
    const shorter = await shrink(ten, (candidate) => (asked++, needs(7)(candidate)), 2);
    expect(asked).toBe(2);
    expect(shorter).toContain(7);
    expect(shorter.length).toBeLessThan(10);
  });

  it('keeps a list of which everything matters', async () => {
    expect(await shrink([1, 2, 3], needs(1, 2, 3), 100)).toEqual([1, 2, 3]);
  });

  it('always gives a list that fails and of which nothing can be left away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(ten, { minLength: 1 }), async (needed) => {
        expect(await shrink(ten, needs(...needed), 1000)).toEqual(needed);
      }),
    );
  });
});
