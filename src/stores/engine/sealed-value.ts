/**
 * Values in LevelDB end in a checksum of their key and themselves. LevelDB has checksums of its own, but classic-level does not ask it to compare them:
 * without this a bit that a disk lost would be a wrong count.
 */
import { crc32c } from '../../bytes/crc32c.js';

const checksumBytes = 4;

export class ValueSealer {
  private buffer = Buffer.allocUnsafe(1024);

  /** The value with its checksum; good until the next call. */
  seal(key: Buffer, value: Buffer): Buffer {
    const { length } = value;
    const sealedLength = length + checksumBytes;
    if (this.buffer.length < sealedLength) this.buffer = Buffer.allocUnsafe(2 * sealedLength);
    const { buffer } = this;
    value.copy(buffer, 0);
    buffer.writeUInt32LE(checksumOf(key, value, length), length);
    return buffer.subarray(0, sealedLength);
  }
}

/** The value without its checksum; null when they do not fit each other, or the key. */
export function unseal(key: Buffer, sealed: Buffer): Buffer | null {
  const length = sealed.length - checksumBytes;
  if (length < 0 || sealed.readUInt32LE(length) !== checksumOf(key, sealed, length)) return null;
  return sealed.subarray(0, length);
}

function checksumOf(key: Buffer, value: Buffer, valueEnd: number): number {
  return crc32c(value, 0, valueEnd, crc32c(key));
}
