import { describe, expect, it } from '@jest/globals';
import { OutputGaps } from '../../bench/clients/output-gaps.js';

function seen(...times: readonly (readonly number[])[]): OutputGaps {
  const gaps = new OutputGaps(times.length);
  times.forEach((ofPartition, partition) => ofPartition.forEach((at) => gaps.seen(partition, at)));
  return gaps;
}

describe('the longest time without output', () => {
  it('is that of the partition that waited longest', () => {
    const gaps = seen([0, 10, 20, 30, 40], [0, 10, 35, 40]);
    expect(gaps.longest([0], 5, 40)).toBe(10);
    expect(gaps.longest([0, 1], 5, 40)).toBe(25);
  });

  it('counts a gap that began before the span, or ends after it, whole; one outside not at all', () => {
    const gaps = seen([0, 50, 100, 110, 200, 210]);
    expect(gaps.longest([0], 20, 105)).toBe(50);
    expect(gaps.longest([0], 105, 150)).toBe(90);
    expect(gaps.longest([0], 101, 109)).toBe(10);
  });

  it('goes on to the end of the span where no output came any more', () => {
    expect(seen([0, 10]).longest([0], 5, 500)).toBe(490);
    expect(seen([]).longest([0], 5, 500)).toBe(495);
  });

  it('is no number for no partitions', () => {
    expect(seen([0, 10]).longest([], 0, 10)).toBeNaN();
  });
});

it('tells when every partition has had output', () => {
  const gaps = seen([0, 10], [0, 7]);
  expect(gaps.allSeenSince(7)).toBe(true);
  expect(gaps.allSeenSince(8)).toBe(false);
});
