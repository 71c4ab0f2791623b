import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countSerde } from '../../src/serdes/count.js';
import { int64Serde } from '../../src/serdes/int64.js';
import { codeOf } from '../topology/error-code.js';

describe('counts', () => {
  it('are the bytes of a 64-bit integer, and come back as numbers', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const bytes = Buffer.from(countSerde.serialize(value));
        expect(bytes).toEqual(Buffer.from(int64Serde.serialize(BigInt(value))));
        expect(countSerde.deserialize(bytes)).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  it('are refused where a number can’t hold them', () => {
    expect(codeOf(() => countSerde.serialize(1.5))).toBe('MILL_SERDE');
    expect(codeOf(() => countSerde.serialize(2 ** 53))).toBe('MILL_SERDE');
    expect(codeOf(() => countSerde.deserialize(Buffer.from(int64Serde.serialize(2n ** 53n))))).toBe('MILL_SERDE');
    expect(codeOf(() => countSerde.deserialize(Buffer.alloc(7)))).toBe('MILL_SERDE');
  });
});
