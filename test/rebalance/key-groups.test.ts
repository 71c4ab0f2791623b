import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import {
  defaultMaxParallelismFor,
  instanceOf,
  keyGroup,
  keyGroupOf,
  keyGroupsOfPartition,
  partitionFor,
  rangeFor,
  rangeOf,
} from '../../src/rebalance/key-groups.js';

/** Ranges recorded from Flink's KeyGroupRangeAssignment. */
const recorded: readonly { readonly max: number; readonly instances: number; readonly ranges: readonly (readonly [number, number])[] }[] = [
  { max: 12, instances: 5, ranges: [[0, 2], [3, 4], [5, 7], [8, 9], [10, 11]] },
  { max: 128, instances: 3, ranges: [[0, 42], [43, 85], [86, 127]] },
  { max: 128, instances: 7, ranges: [[0, 18], [19, 36], [37, 54], [55, 73], [74, 91], [92, 109], [110, 127]] },
  { max: 7, instances: 2, ranges: [[0, 3], [4, 6]] },
  { max: 32768, instances: 5, ranges: [[0, 6553], [6554, 13107], [13108, 19660], [19661, 26214], [26215, 32767]] },
]; // prettier-ignore

describe('key groups', () => {
  it.each(recorded)('of $max over $instances instances are Flink’s ranges', ({ max, instances, ranges }) => {
    expect(ranges.map((_, i) => rangeOf(i, instances, max))).toEqual(ranges.map(([start, end]) => ({ start, end })));
  });

  it('are never negative, whatever the hash', () => {
    expect(keyGroup(-1, 128)).toBe(127);
    expect(keyGroup(-0x8000_0000, 128)).toBe(0);
  });

  it('lie in the range of the instance that they are sent to', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 4096 }), fc.nat(), (instances, max, seed) => {
        const group = seed % max;
        const { start, end } = rangeOf(instanceOf(group, instances, max), instances, max);
        expect(start <= group && group <= end).toBe(true);
      }),
    );
  });

  it('of a partition are those that Java’s partitioner puts there when the count divides the maximum', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 4, 8, 64), fc.integer(), (partitions, hash) => {
        const partition = (hash & 0x7fff_ffff) % partitions;
        expect(keyGroupsOfPartition(partition, partitions, 128)).toContain(keyGroup(hash, 128));
      }),
    );
  });

  it('need a sensible maximum', () => {
    expect(() => rangeOf(0, 1, 32_769)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
    expect(() => rangeOf(2, 2, 128)).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
  });
});

describe('key groups of serialised keys', () => {
  it('lie in the partition that the default partitioner chooses, when the partitions divide the groups', () => {
    for (const key of ['a', 'device-A', '', 'key-17']) {
      const bytes = Buffer.from(key);
      for (const partitions of [1, 2, 8, 128]) {
        expect(partitionFor(keyGroupOf(bytes, 128), partitions)).toBe(partitionForKey(bytes, 0, bytes.length, partitions));
      }
    }
  });

  it('are never split: there are no more instances than groups', () => {
    expect(() => rangeFor(4, 5, 0)).toThrow(/from 1 to the maxParallelism, 4/);
    expect(rangeFor(12, 4, 3)).toEqual({ start: 9, end: 11 });
  });

  it('are half as many again as the instances, as a power of two, when nothing is said', () => {
    expect([1, 86, 200, 30_000].map(defaultMaxParallelismFor)).toEqual([128, 256, 512, 32_768]);
  });
});
