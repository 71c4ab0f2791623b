import { describe, expect, it } from '@jest/globals';
import { boundOf, judge } from '../../bench/soak/verdict.js';

const mebibyte = 2 ** 20;
const samples = (bytesAt: (second: number) => number) =>
  Array.from({ length: 601 }, (_, seconds) => ({ seconds, privateBytes: bytesAt(seconds) }));

describe('the verdict of a soak', () => {
  it('is the highest of all looks against the bound', () => {
    const peaked = samples((second) => (second === 17 ? 600 : 300) * mebibyte);
    expect(judge(peaked, 500 * mebibyte)).toMatchObject({ highestBytes: 600 * mebibyte, isInside: false, isFlat: true });
    expect(judge(peaked, 600 * mebibyte).isInside).toBe(true);
  });

  it('looks for growth in the second half alone', () => {
    const filling = samples((second) => Math.min(second, 200) * mebibyte);
    expect(judge(filling, Infinity)).toMatchObject({ slopeBytesPerMinute: 0, growth: 0, isFlat: true });
  });

  it('sees a leak under the swing of the garbage collector', () => {
    const leaking = samples((second) => (300 + second / 10 + 20 * (second % 7)) * mebibyte);
    const { slopeBytesPerMinute, isFlat } = judge(leaking, Infinity);
    expect(slopeBytesPerMinute / mebibyte).toBeCloseTo(6, 0);
    expect(isFlat).toBe(false);
    expect(
      judge(
        samples((second) => (300 + 20 * (second % 7)) * mebibyte),
        Infinity,
      ).isFlat,
    ).toBe(true);
  });

  it('has a bound above what the app holds, for Node, the swing of the garbage collector, and the index of the keys', () => {
    expect(boundOf(256 * mebibyte, 10_000_000)).toBe(1.5 * 356 * mebibyte + 20_000_000);
  });
});
