/**
 * Kafka's lz4: the LZ4 frame format with independent blocks. `lz4-napi` makes and reads it; what it lacks is a bound on the
 * output, so the frame's block sizes are added up first.
 */
import { MillraceError } from '../../errors.js';
import type { CompressionCodec, PackageLoader } from './codec.js';
import { tooLarge } from './codec.js';

interface Lz4Package {
  compressFrameSync(bytes: Buffer): Buffer;
  decompressFrameSync(bytes: Buffer): Buffer;
}

const FRAME_MAGIC = 0x184d2204;
/** A byte of compressed LZ4 stands for at most this many bytes. */
const MAX_RATIO = 255;

export function createLz4Codec(load: PackageLoader): CompressionCodec {
  const lz4 = load('lz4-napi') as Lz4Package;
  return {
    compress: (bytes) => lz4.compressFrameSync(bytes),
    decompress(bytes, maxBytes) {
      if (outputBound(bytes) > maxBytes) throw tooLarge(maxBytes);
      return lz4.decompressFrameSync(bytes);
    },
  };
}

/** The most bytes that a frame can stand for, from its block sizes alone; also checks the framing. */
export function outputBound(frame: Buffer): number {
  if (frame.length < 7 || frame.readUInt32LE(0) !== FRAME_MAGIC) throw malformed('it has no frame header');
  const flags = frame.readUInt8(4);
  const blockSizeId = (frame.readUInt8(5) >>> 4) & 7;
  if (flags >>> 6 !== 1 || blockSizeId < 4) throw malformed('its frame header is not of version 1');
  const maxBlock = 1 << (8 + 2 * blockSizeId);
  const contentSizeBytes = flags & 0x08 ? 8 : 0;
  const dictionaryIdBytes = flags & 0x01 ? 4 : 0;
  const blockChecksumBytes = flags & 0x10 ? 4 : 0;
  let at = 7 + contentSizeBytes + dictionaryIdBytes;
  let bound = 0;
  while (at + 4 <= frame.length) {
    const word = frame.readUInt32LE(at);
    if (word === 0) return bound;
    const size = word & 0x7fff_ffff;
    bound += word > 0x7fff_ffff ? size : Math.min(maxBlock, size * MAX_RATIO);
    at += 4 + size + blockChecksumBytes;
  }
  throw malformed('its last block is cut');
}

function malformed(why: string): MillraceError {
  return new MillraceError('MILL_CORRUPT_BATCH', `The lz4 data is malformed: ${why}.`);
}
