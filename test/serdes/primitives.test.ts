import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { fromSimpleSerde } from '../../src/serdes/in-place-serde.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { Windowed } from '../../src/time/windowed.js';

/** What Kafka's Java serialisers write. */
const vectors: readonly (readonly [Serde<unknown>, unknown, string])[] = [
  [serdes.string, '', ''],
  [serdes.string, 'hello', '68656c6c6f'],
  [serdes.string, 'é日😀', 'c3a9e697a5f09f9880'],
  [serdes.int16, 1, '0001'],
  [serdes.int16, -1, 'ffff'],
  [serdes.int16, 32767, '7fff'],
  [serdes.int16, -32768, '8000'],
  [serdes.float, 1.5, '3fc00000'],
  [serdes.float, -0, '80000000'],
  [serdes.float, NaN, '7fc00000'],
  [serdes.float, 3.4028234663852886e38, '7f7fffff'],
  [serdes.list(serdes.int32), [1, null, -2], '0000000001000000010000000300000001fffffffe'],
  [serdes.list(serdes.int32), [], '000000000000000000'],
  [serdes.list(serdes.int64), [1n, 2n], '0000000000000000020000000000000001' + '0000000000000002'],
  [serdes.list(serdes.double), [1.5], '0000000000000000013ff8000000000000'],
  [serdes.list(serdes.string), ['a', null, '', 'äb'], '01000000040000000161ffffffff0000000000000003c3a462'],
  [serdes.list(serdes.boolean), [true, false], '010000000200000001010000000100'],
  [serdes.list(serdes.list(serdes.int32)), [[1], []], '01000000020000000d0000000000000000010000000100000009000000000000000000'],
  [serdes.int32, 0, '00000000'],
  [serdes.int32, -1, 'ffffffff'],
  [serdes.int32, 2147483647, '7fffffff'],
  [serdes.int64, 1n, '0000000000000001'],
  [serdes.int64, -(2n ** 63n), '8000000000000000'],
  [serdes.double, 1.5, '3ff8000000000000'],
  [serdes.double, -0, '8000000000000000'],
  [serdes.boolean, true, '01'],
  [serdes.boolean, false, '00'],
  [serdes.uuid, '123e4567-e89b-12d3-a456-426614174000', Buffer.from('123e4567-e89b-12d3-a456-426614174000').toString('hex')],
  [serdes.json<unknown>(), { a: [1, null] }, Buffer.from('{"a":[1,null]}').toString('hex')],
  [serdes.timeWindowed(serdes.string, 10), new Windowed('ab', { start: 1000, end: 1010 }), '616200000000000003e8'],
];

function encode<T>(serde: Serde<T>, value: T): Buffer {
  const out = new ByteWriter(1);
  out.writeByte(0x7f);
  compileSerde(serde).encode(value, out);
  return Buffer.from(out.view().subarray(1));
}

function decode<T>(serde: Serde<T>, bytes: Buffer): T {
  const framed = Buffer.concat([Buffer.from([1, 2, 3]), bytes, Buffer.from([4])]);
  return compileSerde(serde).decodeSync(framed, 3, 3 + bytes.length);
}

describe('primitive serdes', () => {
  it.each(vectors.map(([serde, value, hex]) => [serde.name, value, hex, serde] as const))(
    '%s writes %p as %s',
    (_name, value, hex, serde) => {
      expect(encode(serde, value).toString('hex')).toBe(hex);
      expect(Buffer.from(serde.serialize(value)).toString('hex')).toBe(hex);
      expect(decode(serde, Buffer.from(hex, 'hex'))).toEqual(value);
      expect(serde.deserialize(Buffer.from(hex, 'hex'))).toEqual(value);
    },
  );

  it.each([
    [serdes.string, fc.string({ unit: 'binary', maxLength: 200 })],
    [serdes.int16, fc.integer({ min: -32768, max: 32767 })],
    [serdes.float, fc.float()],
    [serdes.list(serdes.int16), fc.array(fc.option(fc.integer({ min: -32768, max: 32767 }), { nil: null }))],
    [serdes.list(serdes.string), fc.array(fc.option(fc.string({ unit: 'binary' }), { nil: null }))],
    [serdes.int32, fc.integer()],
    [serdes.int64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    [serdes.double, fc.double()],
    [serdes.boolean, fc.boolean()],
    [serdes.uuid, fc.uuid()],
    [serdes.json(), fc.jsonValue()],
    [serdes.bytes, fc.uint8Array().map((bytes) => Buffer.from(bytes))],
  ] as [Serde<unknown>, fc.Arbitrary<unknown>][])('%o comes back as it was', (serde, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (value) => {
        expect(decode(serde, encode(serde, value))).toEqual(serde.name === 'json' ? JSON.parse(JSON.stringify(value)) : value);
      }),
    );
  });

  it('a list needs the serde of its elements, an array, and bytes that are one of that form', () => {
    expect(() => serdes.list(undefined as never)).toThrow('serdes.list takes the serde of the elements, such as serdes.string.');
    expect(() => serdes.list(serdes.json as never)).toThrow('serdes.list takes the serde of the elements');
    const texts = serdes.list(serdes.string);
    expect(() => texts.serialize('abc' as never)).toThrow('Serde list(string) cannot serialise');
    const whole = Buffer.from(texts.serialize(['ab', 'c']));
    for (let end = 0; end < whole.length; end++) expect(() => texts.deserialize(whole.subarray(0, end))).toThrow('cannot deserialise');
    expect(() => serdes.list(serdes.int32).deserialize(whole)).toThrow('cannot deserialise');
  });

  it('bytes are a copy', () => {
    const source = Buffer.from('abc');
    const value = compileSerde(serdes.bytes).decodeSync(source, 0, 3);
    source.fill(0);
    expect(value.toString()).toBe('abc');
  });

  it('strings with lone surrogates become well-formed', () => {
    expect(encode(serdes.string, 'a\ud800b').toString('hex')).toBe('61efbfbd62');
  });

  it.each([
    [serdes.string, 5, 'string cannot serialise number 5'],
    [serdes.int32, 1.5, 'int32 cannot serialise number 1.5'],
    [serdes.int32, 2 ** 31, 'int32 cannot serialise number 2147483648'],
    [serdes.int64, 1, 'a bigint is needed'],
    [serdes.int64, 2n ** 63n, 'int64 cannot serialise bigint'],
    [serdes.double, '1', 'double cannot serialise string 1'],
    [serdes.boolean, 1, 'boolean cannot serialise number 1'],
    [serdes.uuid, 'nope', 'uuid cannot serialise string nope'],
    [serdes.json(), undefined, 'json cannot serialise undefined'],
    [serdes.bytes, 'text', 'bytes cannot serialise string text'],
    [serdes.void, 'x', 'only null is allowed'],
  ] as [Serde<unknown>, unknown, string][])('%o refuses to write %p', (serde, value, message) => {
    expect(() => encode(serde, value)).toThrow(expect.objectContaining({ code: 'MILL_SERDE', message: expect.stringContaining(message) }));
  });

  it.each([
    [serdes.int32, '000001', '3 bytes 0x000001'],
    [serdes.int64, '00', 'expected 8 bytes'],
    [serdes.double, '', '0 bytes'],
    [serdes.boolean, '02', 'expected one byte, 0 or 1'],
    [serdes.uuid, '61', 'not a UUID'],
    [serdes.json(), '7b', '1 bytes 0x7b'],
    [serdes.void, '00', 'only null is allowed'],
    [serdes.timeWindowed(serdes.string, 1), '0001', 'window start'],
    [serdes.json(), 'ff'.repeat(100), '100 bytes 0x' + 'ff'.repeat(24) + '…'],
  ] as [Serde<unknown>, string, string][])('%o refuses to read %s', (serde, hex, message) => {
    expect(() => decode(serde, Buffer.from(hex, 'hex'))).toThrow(
      expect.objectContaining({ code: 'MILL_SERDE', message: expect.stringContaining(message) }),
    );
  });
});

describe('compileSerde', () => {
  it('makes a whole serde out of serialize and deserialize', () => {
    const simple = fromSimpleSerde<number>({
      name: 'n',
      serialize: (n) => Buffer.from(String(n)),
      deserialize: (bytes) => Number(bytes.toString()),
    });
    const compiled = compileSerde(simple);
    expect([compiled.name, compiled.valueIsIdentity, compiled.total]).toEqual(['n', false, false]);
    expect(encode(simple, 42).toString()).toBe('42');
    expect(decode(simple, Buffer.from('42'))).toBe(42);
  });

  it('leaves nothing in the writer when a serde fails half way', () => {
    const failing: Serde<number> = {
      name: 'failing',
      serialize: () => Buffer.alloc(0),
      deserialize: () => 0,
      encode: (_value, out) => {
        out.writeByte(1);
        throw new Error('no');
      },
      decode: () => 0,
    };
    const out = new ByteWriter(8);
    expect(() => compileSerde(failing).encode(1, out)).toThrow(/failing cannot serialise number 1: no/);
    expect(out.length).toBe(0);
  });

  it('passes promises on for topics and refuses them in stores', async () => {
    const slow: Serde<string> = {
      name: 'slow',
      serialize: () => Buffer.alloc(0),
      deserialize: (bytes) => Promise.resolve(bytes.toString()),
    };
    const compiled = compileSerde(slow);
    expect(await compiled.decode(Buffer.from('abc'), 1, 3)).toBe('bc');
    expect(() => compiled.decodeSync(Buffer.from('abc'), 0, 3)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
  });

  it('turns a rejection into MILL_SERDE', async () => {
    const slow: Serde<string> = { name: 'slow', serialize: () => Buffer.alloc(0), deserialize: () => Promise.reject(new Error('gone')) };
    await expect(compileSerde(slow).decode(Buffer.from('abc'), 0, 3)).rejects.toMatchObject({
      code: 'MILL_SERDE',
      message: expect.stringContaining('3 bytes 0x616263: gone'),
    });
    expect(() => compileSerde(slow).decodeSync(Buffer.from('abc'), 0, 3)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
  });
});
