import { describe, expect, it } from '@jest/globals';
import { distinctKeyIndexOf, keyIndexOf, keyOf, makeValues, valueBytes } from '../../bench/input/record-shape.js';

describe('records of the benchmarks', () => {
  it('have 16-byte keys and 100-byte values, the same in every run', () => {
    expect(Buffer.byteLength(keyOf(99_999))).toBe(16);
    expect(makeValues().every((value) => Buffer.byteLength(value) === valueBytes)).toBe(true);
    expect(makeValues()).toEqual(makeValues());
  });

  it('spread over all keys', () => {
    const counts = new Uint32Array(1_000);
    for (let i = 0; i < 100_000; i++) counts[keyIndexOf(i, 1_000)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(Math.max(...counts)).toBeLessThan(200);
  });

  it('have a key each when they are to be distinct', () => {
    expect(new Set(Array.from({ length: 20_000 }, (_, i) => distinctKeyIndexOf(i, 20_000))).size).toBe(20_000);
  });
});
