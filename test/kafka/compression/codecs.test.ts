import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { PackageLoader } from '../../../src/kafka/compression/codec.js';
import { Codecs, codecPackages } from '../../../src/kafka/compression/codecs.js';
import { compressionId } from '../../../src/kafka/compression/compression-type.js';
import { createZstdCodec } from '../../../src/kafka/compression/zstd.js';

const MIB = 1024 * 1024;
const types = ['gzip', 'snappy', 'lz4', 'zstd'] as const;
const codecs = new Codecs();

describe.each(types)('%s', (type) => {
  const codec = codecs.get(type);

  it('gives back what it was given', () => {
    const parts = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(100_000).map((size) => Buffer.alloc(size, size)),
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(parts, (chunks) => {
        const bytes = Buffer.concat(chunks);
        expect(codec.decompress(codec.compress(bytes), MIB).equals(bytes)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('makes repetitive bytes small', () => {
    expect(codec.compress(Buffer.alloc(100_000, 'abc')).length).toBeLessThan(10_000);
  });

  it('refuses to make more bytes than it may', () => {
    const bomb = codec.compress(Buffer.alloc(3 * MIB));
    expect(() => codec.decompress(bomb, 2 * MIB)).toThrow(/more than 2097152 bytes/);
    expect(codec.decompress(bomb, 4 * MIB).length).toBe(3 * MIB);
  });

  it('throws on bytes that it did not make, and works on afterwards', () => {
    const good = codec.compress(Buffer.from('the quick brown fox jumps over the lazy dog'));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(good.length - 1), (noise, cut) => {
        for (const bytes of [Buffer.from(noise), good.subarray(0, cut), Buffer.concat([good.subarray(0, cut), noise])]) {
          try {
            codec.decompress(bytes, MIB);
          } catch (error) {
            expect(Object.prototype.toString.call(error)).toBe('[object Error]');
          }
        }
      }),
    );
    expect(codec.decompress(good, MIB).toString()).toBe('the quick brown fox jumps over the lazy dog');
  });
});

describe('snappy framing', () => {
  const require = createRequire(import.meta.url);
  const raw = (require('snappy') as { compressSync(bytes: Buffer): Buffer }).compressSync;
  const snappy = codecs.get('snappy');

  it('writes what the Java client writes: the xerial header, then chunks of at most 32 KiB after their lengths', () => {
    const packed = snappy.compress(Buffer.alloc(40_000, 7));
    expect(packed.subarray(0, 16).toString('hex')).toBe('82534e4150505900' + '00000001' + '00000001');
    const first = packed.readInt32BE(16);
    expect(packed.readInt32BE(20 + first)).toBe(packed.length - 24 - first);
  });

  it('reads a raw block too, as clients that are not Java write it', () => {
    expect(snappy.decompress(raw(Buffer.from('raw')), MIB).toString()).toBe('raw');
  });
});

describe('lz4 framing', () => {
  it('writes independent blocks, the only kind that Kafka reads', () => {
    const flags = codecs.get('lz4').compress(Buffer.alloc(200_000, 7)).readUInt8(4);
    expect(flags >>> 6).toBe(1);
    expect(flags & 0x20).toBe(0x20);
  });
});

describe('gzip framing', () => {
  it('reads any level', () => {
    expect(
      codecs
        .get('gzip')
        .decompress(gzipSync('level nine', { level: 9 }), MIB)
        .toString(),
    ).toBe('level nine');
  });
});

describe('zstd', () => {
  // A frame without its content's size, as a streaming writer (the Java client) makes it: one raw block "hi".
  const streamed = Buffer.from('28b52ffd' + '0058' + '110000' + '6869', 'hex');

  it('reads frames that do not tell their size', () => {
    expect(codecs.get('zstd').decompress(streamed, MIB).toString()).toBe('hi');
  });

  it('prefers Node’s own implementation where there is one', () => {
    const node = { zstdCompressSync: (bytes: Buffer) => bytes, zstdDecompressSync: () => Buffer.from('by node') };
    const codec = createZstdCodec(createRequire(import.meta.url), node);
    expect(codec.decompress(streamed, MIB).toString()).toBe('by node');
  });

  it('by wasm reads what Node writes and the other way round, where both exist', () => {
    const wasm = createZstdCodec(createRequire(import.meta.url), {});
    const other = codecs.get('zstd');
    const bytes = Buffer.alloc(300_000, 'both ways');
    expect(wasm.decompress(other.compress(bytes), MIB).equals(bytes)).toBe(true);
    expect(other.decompress(wasm.compress(bytes), MIB).equals(bytes)).toBe(true);
  });
});

describe('a package that is not installed', () => {
  const missing: PackageLoader = Object.assign(
    () => {
      throw new Error('not installed');
    },
    { resolve: missingPath, cache: {} },
  );

  it.each(['snappy', 'lz4'] as const)('%s: MILL_CODEC_MISSING names it', (type) => {
    const error = thrownBy(() => new Codecs(missing).get(type));
    expect(error).toMatchObject({ code: 'MILL_CODEC_MISSING', details: { compression: type, package: codecPackages[type] } });
    expect(String(error)).toContain(codecPackages[type]);
  });

  it('zstd: MILL_CODEC_MISSING, unless Node has it', () => {
    if ('zstdCompressSync' in process.getBuiltinModule('node:zlib')) expect(new Codecs(missing).get('zstd')).toBeDefined();
    else
      expect(thrownBy(() => new Codecs(missing).get('zstd'))).toMatchObject({
        code: 'MILL_CODEC_MISSING',
        details: { package: '@bokuweb/zstd-wasm' },
      });
  });

  it('gzip needs none', () => {
    expect(new Codecs(missing).get('gzip')).toBeDefined();
  });
});

it('numbers compressions as the attributes of a batch do', () => {
  expect(types.map(compressionId)).toEqual([1, 2, 3, 4]);
});

function missingPath(): never {
  throw new Error('not installed');
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
