import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { murmur3Hash128 } from '../../src/bytes/murmur3.js';

/** What Kafka Streams 4.4.0 (`Murmur3.hash128`) gives. */
const ofTexts: readonly (readonly [string, string])[] = [
  ['', '9d2764a018e329428c3cf3b035938518'],
  ['a', '3361634e7e0f5188e9c7dda24eae326b'],
  ['ab', '79ff6415a28fa15603ff066e65c54eb0'],
  ['abcdefg', '8213f0cabc692d1298464044828f459a'],
  ['abcdefgh', 'c9e137e204bd98d798412524f285c8d5'],
  ['abcdefghi', '4be3491e5ef44ca37e63ebba6e3b347c'],
  ['0123456789abcde', 'c480e6b5c0016979a0d033624a7f7904'],
  ['0123456789abcdef', '1a6e941ec6a76967d7d82808f505d6b1'],
  ['0123456789abcdefg', 'a93635c3ece7b605aeed6784d1b08b32'],
  ['é😀 and a text that is longer than two blocks', '7d9ec8207fe2de40cc05768cedbf3a92'],
];
const ofHighBytes: readonly (readonly [number, string])[] = [
  [1, 'dd00cc55e8df46660c46987df5436d19'],
  [7, 'f3a82233a1c9bd9482084fcb1d680d79'],
  [8, '9fdfc587f4c8abe8a927a7bcbefe3398'],
  [9, '924d1e93bc1f63b3001b0979e8ecb806'],
  [15, '5884aa9094b09a65cc11fefc81bd8d8e'],
  [16, 'd5a232ee177a457c7ddbaca36f416429'],
  [31, '2a9092a9aef8658daa872c2a7f985314'],
  [33, 'ab8e99198783aeb97afca3141252bba1'],
  [64, '0273ccb58012df1ca8558e862cd3dfb7'],
];

describe('murmur3, 128 bits', () => {
  it.each(ofTexts)('of %j', (text, hash) => {
    expect(murmur3Hash128(Buffer.from(text)).toString('hex')).toBe(hash);
  });

  it.each(ofHighBytes)('of %i bytes with high bits', (length, hash) => {
    const bytes = Uint8Array.from({ length }, (_, index) => 255 - index * 3);
    expect(murmur3Hash128(bytes).toString('hex')).toBe(hash);
  });

  it('hashes a part as if it stood alone', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(20), (bytes, before) => {
        const padded = Buffer.concat([Buffer.alloc(before, 7), bytes, Buffer.alloc(3, 9)]);
        expect(murmur3Hash128(padded, before, before + bytes.length)).toEqual(murmur3Hash128(bytes));
      }),
    );
  });

  it('equals a slow model over big integers', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(murmur3Hash128(bytes).toString('hex')).toBe(slowHash(bytes));
      }),
    );
  });
});

const word = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint => word((value << bits) | (value >> (64n - bits)));
const [c1, c2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn];

function slowHash(bytes: Uint8Array): string {
  const part = (start: number, end: number): bigint =>
    Array.from(bytes.subarray(start, Math.max(start, end))).reduce((sum, byte, index) => sum | (BigInt(byte) << BigInt(8 * index)), 0n);
  const first = (k: bigint): bigint => word(rotate(word(k * c1), 31n) * c2);
  const second = (k: bigint): bigint => word(rotate(word(k * c2), 33n) * c1);
  let [h1, h2] = [104729n, 104729n];
  const blocksEnd = bytes.length & ~15;
  for (let at = 0; at < blocksEnd; at += 16) {
    h1 = word(word(rotate(h1 ^ first(part(at, at + 8)), 27n) + h2) * 5n + 0x52dce729n);
    h2 = word(word(rotate(h2 ^ second(part(at + 8, at + 16)), 31n) + h1) * 5n + 0x38495ab5n);
  }
  h2 ^= second(part(blocksEnd + 8, bytes.length));
  h1 ^= first(part(blocksEnd, Math.min(bytes.length, blocksEnd + 8)));
  h1 = word((h1 ^ BigInt(bytes.length)) + (h2 ^ BigInt(bytes.length)));
  h2 = word((h2 ^ BigInt(bytes.length)) + h1);
  const finish = (h: bigint): bigint => {
    const once = word((h ^ (h >> 33n)) * 0xff51afd7ed558ccdn);
    const twice = word((once ^ (once >> 33n)) * 0xc4ceb9fe1a85ec53n);
    return twice ^ (twice >> 33n);
  };
  [h1, h2] = [finish(h1), finish(h2)];
  h1 = word(h1 + h2);
  h2 = word(h2 + h1);
  return h1.toString(16).padStart(16, '0') + h2.toString(16).padStart(16, '0');
}
