/**
 * The format of LevelDB's write-ahead logs and manifests: a row of 32 KiB blocks of pieces, each with a checksum. A record is one piece or several. A piece that does not match is dropped with the
 * rest of its block, and reading goes on in the next one.
 */
import { crc32c } from '../../bytes/crc32c.js';
import { unmasked } from './masked-checksum.js';

const blockSize = 32_768;
/** Checksum, length, type. */
const headerSize = 7;
const TYPE_AT = 6;
const LENGTH_AT = 4;
const PieceType = { FULL: 1, FIRST: 2, MIDDLE: 3, LAST: 4 } as const;

export interface LogContent {
  /** What LevelDB reads of it. */
  readonly records: readonly Buffer[];
  /** Nothing stands behind them that can't be read. */
  readonly isWhole: boolean;
  /** Something readable follows, in a later block, what can't be read. */
  readonly hasGap: boolean;
}

export function readLog(log: Buffer): LogContent {
  const records: Buffer[] = [];
  let pieces: Buffer[] | null = null;
  let isBroken = false;
  let hasGap = false;
  for (let start = 0; start < log.length; start += blockSize) {
    const end = Math.min(start + blockSize, log.length);
    for (let at = start; end - at >= headerSize;) {
      const next = endOfPiece(log, at, end);
      if (next === null) {
        isBroken = true;
        pieces = null;
        break;
      }
      hasGap ||= isBroken;
      const type = log[at + TYPE_AT];
      const piece = log.subarray(at + headerSize, next);
      if (type === PieceType.FULL) records.push(piece);
      else if (type === PieceType.FIRST) pieces = [piece];
      else pieces?.push(piece);
      if (type === PieceType.LAST && pieces !== null) records.push(Buffer.concat(pieces));
      if (type === PieceType.FULL || type === PieceType.LAST) pieces = null;
      at = next;
    }
  }
  return { records, isWhole: !isBroken && pieces === null, hasGap };
}

/** null when the piece there is not whole. */
function endOfPiece(log: Buffer, at: number, end: number): number | null {
  const next = at + headerSize + log.readUInt16LE(at + LENGTH_AT);
  if (next > end || log[at + TYPE_AT] === 0) return null;
  return crc32c(log, at + TYPE_AT, next) === unmasked(log.readUInt32LE(at)) ? next : null;
}
