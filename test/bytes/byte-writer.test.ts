import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteWriter } from '../../src/bytes/byte-writer.js';

describe('ByteWriter', () => {
  it('writes integers big-endian', () => {
    const out = new ByteWriter(1);
    out.writeByte(0xfe);
    out.writeInt16(-2);
    out.writeInt32(0x01020304);
    out.writeInt64(-1);
    out.writeBigInt64(2n ** 62n);
    expect(out.copy().toString('hex')).toBe('fe' + 'fffe' + '01020304' + 'ffffffffffffffff' + '4000000000000000');
  });

  it('writes every safe integer as Node writes its bigint', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const out = new ByteWriter();
        out.writeInt64(value);
        expect(out.view().readBigInt64BE(0)).toBe(BigInt(value));
      }),
    );
  });

  it('zigzags varints so that small magnitudes are short', () => {
    const out = new ByteWriter();
    for (const value of [0, -1, 1, -64, 64, 2 ** 31, -(2 ** 31)]) out.writeVarint(value);
    expect(out.view().toString('hex')).toBe('00' + '01' + '02' + '7f' + '8001' + '8080808010' + 'ffffffff0f');
  });

  it('keeps what was written when it grows, and the memory when it is reset', () => {
    const out = new ByteWriter(4);
    out.writeUtf8('grüße');
    out.writeBytes(Buffer.alloc(100, 1), 50);
    expect(out.view()).toEqual(Buffer.concat([Buffer.from('grüße'), Buffer.alloc(50, 1)]));
    const { buffer } = out;
    out.reset();
    out.writeByte(1);
    expect(out.buffer).toBe(buffer);
    expect(out.length).toBe(1);
  });

  it.each([['a text'], [5], [[1, 2]], [Promise.resolve(Buffer.from('x'))], [null]])(
    'refuses %p as bytes, which would be written as zeros',
    (source) => {
      const out = new ByteWriter();
      out.writeByte(7);
      expect(() => out.writeBytes(source as never, 0, 2)).toThrow(TypeError);
      expect([...out.view()]).toEqual([7]);
    },
  );
});
