import { describe, expect, it } from '@jest/globals';
import { median, percentile, summarise } from '../../bench/report/summary.js';

describe('summary of a benchmark row', () => {
  it('takes the median of the rounds', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
  });

  it('takes percentiles by nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect(percentile(values, 0.5)).toBe(100);
    expect(percentile(values, 0.99)).toBe(198);
  });

  it('has a ratio above 1 when ours is faster', () => {
    expect(summarise('map-eos', 'records/s', 'higher', { ours: [10, 30, 20], theirs: [5, 4, 6] })).toMatchObject({
      ours: 20,
      theirs: 5,
      ratio: 4,
      spread: [2, 7.5],
      rounds: 3,
    });
  });

  it('has a ratio above 1 when ours takes less', () => {
    expect(summarise('restore', 's', 'lower', { ours: [2], theirs: [3] })).toMatchObject({ ratio: 1.5, rounds: 1 });
  });
});
