/**
 * The codec port: whole buffers in, whole buffers out, synchronously, because the decoder stands in the record path.
 * Implementations are one a file beside this one; `compressionCodec` (codecs.ts) finds and loads them.
 */
import { MillraceError } from '../../errors.js';

export interface CompressionCodec {
  compress(bytes: Buffer): Buffer;
  /**
   * @param maxBytes refuse to make more than this many bytes: what stands in a batch is not to be trusted
   * @throws anything on malformed input; the decoder turns it into MILL_CORRUPT_BATCH with the batch's place
   */
  decompress(bytes: Buffer, maxBytes: number): Buffer;
}

/** Loads a package by name, synchronously; throws when it is not there. `createRequire` makes one. */
export interface PackageLoader {
  (name: string): unknown;
  resolve(name: string): string;
  readonly cache: NodeJS.Dict<NodeJS.Module>;
}

export function tooLarge(maxBytes: number): MillraceError {
  return new MillraceError('MILL_CORRUPT_BATCH', `The compressed bytes stand for more than ${maxBytes} bytes.`);
}
