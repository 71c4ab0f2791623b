/**
 * Whether LevelDB, which opens a database whatever its write-ahead log looks like, would leave out batches in the middle of it. The log is a row of 32 KiB blocks of
 * records, each with a checksum: a record that does not match is dropped with the rest of its block, and reading goes on in the next one.
 *
 * What is cut off at the end is no damage: a crash does that, and then the database is at an earlier batch. But batches after a gap would say that the stores are
 * where they are not.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32c } from '../../bytes/crc32c.js';
import { unmasked } from './masked-checksum.js';

const blockSize = 32_768;
/** Checksum, length, type. */
const headerSize = 7;
const TYPE_AT = 6;
const LENGTH_AT = 4;

/** The name of a log of that database with a gap in it; null when there is none. */
export async function damagedLog(directory: string): Promise<string | null> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    if (name.endsWith('.log') && hasGap(await readFile(join(directory, name)))) return name;
  }
  return null;
}

/** Whether something readable follows, in a later block, what can't be read. */
export function hasGap(log: Buffer): boolean {
  let isBroken = false;
  for (let start = 0; start < log.length; start += blockSize) {
    const end = Math.min(start + blockSize, log.length);
    for (let at = start; end - at >= headerSize;) {
      const next = endOfRecord(log, at, end);
      if (next === null) {
        isBroken = true;
        break;
      }
      if (isBroken) return true;
      at = next;
    }
  }
  return false;
}

/** null when the record there is not whole. */
function endOfRecord(log: Buffer, at: number, end: number): number | null {
  const next = at + headerSize + log.readUInt16LE(at + LENGTH_AT);
  if (next > end || log[at + TYPE_AT] === 0) return null;
  return crc32c(log, at + TYPE_AT, next) === unmasked(log.readUInt32LE(at)) ? next : null;
}
