/** What LevelDB's manifest, a log of changes of its set of files, says of write-ahead logs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from './log-format.js';
import { NumberReader } from './number-reader.js';

const Tag = {
  COMPARATOR: 1,
  LOG_NUMBER: 2,
  NEXT_FILE_NUMBER: 3,
  LAST_SEQUENCE: 4,
  COMPACT_POINTER: 5,
  DELETED_FILE: 6,
  NEW_FILE: 7,
  PREV_LOG_NUMBER: 9,
} as const;

/**
 * The number of the log that LevelDB begins with when it opens that database: what was in those before is in tables. 0: with any; null: the manifest does not tell, and LevelDB refuses it.
 */
export async function oldestLogInUse(directory: string): Promise<number | null> {
  const current = await readFile(join(directory, 'CURRENT'), 'latin1');
  if (!/^MANIFEST-\d+\n$/.test(current)) return null;
  const manifest = await readFile(join(directory, current.trimEnd())).catch(() => null);
  if (manifest === null) return null;
  try {
    return readLog(manifest).records.reduce((before, edit) => logNumberIn(edit) ?? before, 0);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * null: this change leaves it as it is.
 * @throws RangeError for what is no change
 */
function logNumberIn(edit: Buffer): number | null {
  const fields = new NumberReader(edit, 0, edit.length);
  const skipText = (): void => fields.skip(fields.number());
  let logNumber: number | null = null;
  while (!fields.isAtEnd) {
    const tag = fields.number();
    switch (tag) {
      case Tag.COMPARATOR:
        skipText();
        break;
      case Tag.LOG_NUMBER:
        logNumber = fields.number();
        break;
      case Tag.NEXT_FILE_NUMBER:
      case Tag.LAST_SEQUENCE:
      case Tag.PREV_LOG_NUMBER:
        fields.number();
        break;
      case Tag.COMPACT_POINTER:
        fields.number();
        skipText();
        break;
      case Tag.DELETED_FILE:
        fields.number();
        fields.number();
        break;
      case Tag.NEW_FILE:
        for (let i = 0; i < 3; i++) fields.number();
        skipText();
        skipText();
        break;
      default:
        throw new RangeError(`a change of the set of files has no field ${tag}`);
    }
  }
  return logNumber;
}
