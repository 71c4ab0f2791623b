import { crc32c } from '../../../src/bytes/crc32c.js';

const blockSize = 32_768;
const headerSize = 7;

/** A log as LevelDB writes it: the records in pieces that fill blocks. */
export function writeLog(records: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = [];
  let left = blockSize;
  for (const record of records) {
    let at = 0;
    do {
      if (left < headerSize) {
        pieces.push(Buffer.alloc(left));
        left = blockSize;
      }
      const size = Math.min(record.length - at, left - headerSize);
      const isFirst = at === 0;
      const isLast = at + size === record.length;
      pieces.push(piece(isFirst && isLast ? 1 : isFirst ? 2 : isLast ? 4 : 3, record.subarray(at, at + size)));
      left -= headerSize + size;
      at += size;
    } while (at < record.length);
  }
  return Buffer.concat(pieces);
}

function piece(type: number, payload: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(headerSize), payload]);
  bytes.writeUInt16LE(payload.length, 4);
  bytes[6] = type;
  bytes.writeUInt32LE(masked(crc32c(bytes, 6, bytes.length)), 0);
  return bytes;
}

function masked(checksum: number): number {
  return (((checksum >>> 15) | (checksum << 17)) + 0xa282_ead8) >>> 0;
}
