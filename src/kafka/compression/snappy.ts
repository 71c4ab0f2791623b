/**
 * Kafka's snappy: the Java client frames it as the xerial library does (a 16-byte header, then chunks of raw snappy, each
 * after its length), other clients write one raw block. Both are read; the first is written, in chunks of 32 KiB as Java's.
 */
import { MillraceError } from '../../errors.js';
import type { CompressionCodec, PackageLoader } from './codec.js';
import { tooLarge } from './codec.js';

interface SnappyPackage {
  compressSync(bytes: Uint8Array, options: SnappyOptions): Buffer;
  uncompressSync(bytes: Uint8Array, options: SnappyOptions): Buffer;
}

interface SnappyOptions {
  readonly copyOutputData: boolean;
}

/** Copying out of the addon's memory was measured ten times as fast as a finaliser for each small chunk. */
const OPTIONS: SnappyOptions = { copyOutputData: true };
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;
/** Version 1, compatible with version 1. */
const XERIAL_HEADER = Buffer.concat([XERIAL_MAGIC, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])]);
const CHUNK_BYTES = 32 * 1024;

export function createSnappyCodec(load: PackageLoader): CompressionCodec {
  const snappy = load('snappy') as SnappyPackage;
  return {
    compress(bytes) {
      const parts: Buffer[] = [XERIAL_HEADER];
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
        const chunk = snappy.compressSync(bytes.subarray(at, at + CHUNK_BYTES), OPTIONS);
        const size = Buffer.allocUnsafe(4);
        size.writeInt32BE(chunk.length);
        parts.push(size, chunk);
      }
      return Buffer.concat(parts);
    },
    decompress(bytes, maxBytes) {
      const chunks = isXerial(bytes) ? xerialChunks(bytes) : [bytes];
      let total = 0;
      for (const chunk of chunks) total += uncompressedSize(chunk);
      if (total > maxBytes) throw tooLarge(maxBytes);
      if (chunks.length === 1) return snappy.uncompressSync(chunks[0] as Buffer, OPTIONS);
      return Buffer.concat(chunks.map((chunk) => snappy.uncompressSync(chunk, OPTIONS)));
    },
  };
}

function isXerial(bytes: Buffer): boolean {
  return bytes.length >= XERIAL_HEADER_BYTES && XERIAL_MAGIC.equals(bytes.subarray(0, XERIAL_MAGIC.length));
}

function xerialChunks(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let at = XERIAL_HEADER_BYTES;
  while (at < bytes.length) {
    if (bytes.length - at < 4) throw malformed();
    const size = bytes.readInt32BE(at);
    if (size <= 0 || size > bytes.length - at - 4) throw malformed();
    chunks.push(bytes.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return chunks;
}

/** A raw snappy block starts with its uncompressed size as an unsigned varint of at most 32 bits. */
function uncompressedSize(chunk: Buffer): number {
  let size = 0;
  for (let i = 0; i < 5; i++) {
    const byte = chunk[i];
    if (byte === undefined) break;
    size += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return size;
  }
  throw malformed();
}

function malformed(): MillraceError {
  return new MillraceError('MILL_CORRUPT_BATCH', 'The snappy framing is malformed.');
}
