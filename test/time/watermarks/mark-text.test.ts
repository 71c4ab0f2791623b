import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeMarks, encodeMarks, longestMarkText } from '../../../src/time/watermarks/mark-text.js';
import type { UpstreamMark } from '../../../src/time/watermarks/source-watermarks.js';

const watermark = fc.oneof(fc.integer({ min: -1e13, max: 4e12 }), fc.constantFrom(Infinity, -Infinity));
const marks = fc
  .dictionary(
    fc.tuple(fc.nat(12), fc.nat(20)).map(([sub, partition]) => `${sub}_${partition}`),
    fc.record({ watermark, idle: fc.boolean() }),
    { maxKeys: 30 },
  )
  .map((byTask) => new Map<string, UpstreamMark>(Object.entries(byTask)));

describe('what upstream tasks have told, as text', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(marks, (told) => {
        expect(decodeMarks(encodeMarks(told) ?? '')).toEqual(told);
      }),
    );
  });

  it('is short', () => {
    const now = 1_764_000_000_000;
    expect(
      encodeMarks(
        new Map([
          ['0_0', { watermark: now, idle: false }],
          ['0_2', { watermark: now + 46_655, idle: true }],
        ]),
      ),
    ).toBe('0:midc1z40:0,,!zzz');
  });

  it('never claims more than was told: a fraction of a millisecond is left out', () => {
    expect(decodeMarks(encodeMarks(new Map([['0_0', { watermark: 10.7, idle: false }]])) ?? '')).toEqual(
      new Map([['0_0', { watermark: 10, idle: false }]]),
    );
  });

  it('is left out when there is more than the metadata of an offset has room for', () => {
    const many = new Map(Array.from({ length: 3_000 }, (_, i) => [`0_${i}`, { watermark: i * 1e6, idle: true }] as const));
    expect(encodeMarks(many)).toBeNull();
    const some = new Map(Array.from({ length: 100 }, (_, i) => [`0_${i}`, { watermark: i * 1e10, idle: true }] as const));
    expect(encodeMarks(some)?.length).toBeLessThan(longestMarkText / 2);
  });

  it.each(['', ';', '0', 'x:y:z', '0::', '0:a:?,1'])('makes no fuss of %j, which it did not write', (text) => {
    for (const mark of decodeMarks(text).values()) expect(mark.watermark).not.toBeNaN();
  });
});
