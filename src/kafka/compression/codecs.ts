/**
 * Finds the codec for a compression type. The packages are optional: each is loaded when it is first needed, so that an
 * application without compressed topics installs none.
 */
import { createRequire } from 'node:module';
import { MillraceError } from '../../errors.js';
import type { CompressionCodec, PackageLoader } from './codec.js';
import type { CompressionType } from './compression-type.js';
import { gzipCodec } from './gzip.js';
import { createLz4Codec } from './lz4.js';
import { createSnappyCodec } from './snappy.js';
import { createZstdCodec } from './zstd.js';

/** What a compression needs installed; null: Node has it. */
export const codecPackages = { gzip: null, snappy: 'snappy', lz4: 'lz4-napi', zstd: '@bokuweb/zstd-wasm' } as const;

const factories: Readonly<Record<keyof typeof codecPackages, (load: PackageLoader) => CompressionCodec>> = {
  gzip: () => gzipCodec,
  snappy: createSnappyCodec,
  lz4: createLz4Codec,
  zstd: createZstdCodec,
};

/** Codecs by type, loaded once. One set serves a process; a test makes its own to leave packages out. */
export class Codecs {
  private readonly loaded = new Map<CompressionType, CompressionCodec>();

  constructor(private readonly load: PackageLoader = createRequire(import.meta.url)) {}

  /** @throws MILL_CODEC_MISSING naming the package (also in `details.package`) */
  get(type: Exclude<CompressionType, 'none'>): CompressionCodec {
    let codec = this.loaded.get(type);
    if (codec === undefined) {
      codec = this.create(type);
      this.loaded.set(type, codec);
    }
    return codec;
  }

  private create(type: Exclude<CompressionType, 'none'>): CompressionCodec {
    try {
      return factories[type](this.load);
    } catch (cause) {
      const name = codecPackages[type];
      const hint = type === 'zstd' ? ' (Node 22.15 and newer need no package for zstd)' : '';
      throw new MillraceError('MILL_CODEC_MISSING', `Compression ${type} needs the package ${name}, which can't be loaded${hint}.`, {
        cause,
        details: { compression: type, package: name },
      });
    }
  }
}

export const defaultCodecs = new Codecs();
