import { describe, expect, it } from '@jest/globals';
import { keyIndexOf, keyOf, makeItems, makeValues, valueBytes } from '../../bench/input/record-shape.js';

describe('records of the benchmarks', () => {
  it('have 16-byte keys and 100-byte values, the same in every run', () => {
    expect(Buffer.byteLength(keyOf(99_999))).toBe(16);
    expect(makeValues().every((value) => Buffer.byteLength(value) === valueBytes)).toBe(true);
    expect(makeValues()).toEqual(makeValues());
  });

  it('are JSON of the same size when asked for', () => {
    for (const value of makeValues('json')) {
      expect(Buffer.byteLength(value)).toBe(valueBytes);
      expect(JSON.parse(value)).toEqual({ item: expect.any(String), amount: expect.any(Number), note: expect.any(String) });
    }
  });

  it('have values of another size when asked for', () => {
    expect(makeValues('letters', 10_000).map((value) => value.length)).toEqual(makeValues().map(() => 10_000));
  });

  it('have the same items for Avro in every run', () => {
    expect(makeItems()).toEqual(makeItems());
    expect(makeItems()[0]).toEqual({ item: expect.any(String), amount: expect.any(Number), note: expect.any(String) });
  });

  it('spread over all keys', () => {
    const counts = new Uint32Array(1_000);
    for (let i = 0; i < 100_000; i++) counts[keyIndexOf(i, 1_000)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(50);
    expect(Math.max(...counts)).toBeLessThan(200);
  });

  it('have a key each when the keys come in turn', () => {
    expect(new Set(Array.from({ length: 20_000 }, (_, i) => keyIndexOf(i, 20_000, 'inTurn'))).size).toBe(20_000);
  });
});
