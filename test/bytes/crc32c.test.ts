import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc32c, crc32cByTable } from '../../src/bytes/crc32c.js';

describe('crc32c', () => {
  it.each([
    ['123456789 (the check value of every CRC catalogue)', Buffer.from('123456789'), 0xe3069283],
    ['32 zeros (RFC 3720 B.4)', Buffer.alloc(32), 0x8a9136aa],
    ['32 ones (RFC 3720 B.4)', Buffer.alloc(32, 0xff), 0x62a8ab43],
    ['0 … 31 (RFC 3720 B.4)', Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    ['31 … 0 (RFC 3720 B.4)', Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
    ['nothing', Buffer.alloc(0), 0],
  ])('of %s', (_name, bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
    expect(crc32cByTable(bytes)).toBe(expected);
  });

  it('is the same by the native module and by the table, on any part of any buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), fc.nat(2000), fc.nat(2000), (bytes, a, b) => {
        const start = Math.min(a, b, bytes.length);
        const end = Math.min(Math.max(a, b), bytes.length);
        expect(crc32c(bytes, start, end)).toBe(crc32cByTable(bytes, start, end));
        expect(crc32c(bytes, start, end)).toBe(crc32c(bytes.slice(start, end)));
      }),
    );
  });

  it('goes on from the checksum of what stands before', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
        const whole = crc32c(Buffer.concat([first, second]));
        expect(crc32c(second, 0, second.length, crc32c(first))).toBe(whole);
        expect(crc32cByTable(second, 0, second.length, crc32cByTable(first))).toBe(whole);
      }),
    );
  });
});
