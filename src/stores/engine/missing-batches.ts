/**
 * Whether LevelDB, which opens a database whatever its write-ahead logs look like, would leave out batches and read later ones: those would say that the stores are where they are not.
 *
 * What is cut off at the end is no damage: a crash does that, and then the database is at an earlier batch. There are several logs while a full one is on its way into a table; without CURRENT LevelDB
 * makes a new database, and reads the logs of the old one into it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from './log-format.js';
import { oldestLogInUse } from './manifest.js';

/** A batch begins with the number of its first row, and how many it has. */
const COUNT_AT = 8;
const batchHeaderSize = 12;

/** Why batches are missing in that database before others; null when none are. */
export async function missingBatches(directory: string): Promise<string | null> {
  const names: readonly string[] = await readdir(directory).catch(() => []);
  if (!names.includes('CURRENT')) return names.some((name) => /^\d+\.(ldb|log)$/.test(name)) ? 'CURRENT is missing' : null;
  const oldest = (await oldestLogInUse(directory)) ?? 0;
  const logs = names.filter((name) => name.endsWith('.log') && numberOf(name) >= oldest).sort((a, b) => numberOf(a) - numberOf(b));
  const hasOldest = oldest === 0 || logs.some((name) => numberOf(name) === oldest);
  // What is not there of the batches so far.
  let lacking = hasOldest ? null : 'a write-ahead log is missing';
  let next: number | null = null;
  for (const name of logs) {
    const { records, isWhole, hasGap } = readLog(await readFile(join(directory, name)));
    if (hasGap) return `${name} has a gap`;
    if (records.length > 0 && lacking !== null) return lacking;
    for (const record of records) {
      if (record.length < batchHeaderSize) return `${name} has a batch without an end`;
      const first = Number(record.readBigUInt64LE(0));
      if (next !== null && first !== next) return `batches before one of ${name} are missing`;
      next = first + record.readUInt32LE(COUNT_AT);
    }
    if (!isWhole || records.length === 0) lacking = `the end of ${name} is missing`;
  }
  return null;
}

const numberOf = (log: string): number => Number.parseInt(log, 10);
