import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { copyBroadcast, splitEvenly, uniteForAll } from '../../src/rebalance/operator-state.js';

describe('operator state on a rescale', () => {
  const old = fc.array(fc.array(fc.nat(1_000_000), { maxLength: 10 }), { minLength: 1, maxLength: 6 });
  const instances = fc.integer({ min: 1, max: 8 });

  it('as a list goes to the instances once, in parts that differ by one at most', () => {
    fc.assert(
      fc.property(old, instances, (lists, count) => {
        const split = splitEvenly(lists, count);
        expect(split).toHaveLength(count);
        expect(split.flat().toSorted()).toEqual(lists.flat().toSorted());
        if (count === lists.length) return;
        const sizes = split.map(({ length }) => length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('as a union list goes to each instance whole', () => {
    expect(uniteForAll([['a'], ['b', 'c']], 3)).toEqual(Array.from({ length: 3 }, () => ['a', 'b', 'c']));
  });

  it('as broadcast state is copied to each', () => {
    expect(copyBroadcast(['copy', 'copy'], 3)).toEqual(['copy', 'copy', 'copy']);
    expect(copyBroadcast([], 3)).toEqual([]);
  });
});
