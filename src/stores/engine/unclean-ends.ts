/**
 * How often in a row a database was in use when its process ended. More than once may be the database's own doing, and would go on for ever: LevelDB ends the process when it meets damage in a table,
 * at each start anew.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of this name beside LevelDB's own, which leaves it alone. Holds the count that there is when the process ends now. */
const useMark = 'MILLRACE_IN_USE';

/** 0: it was closed in order, or is new. */
export function uncleanEnds(directory: string): number {
  try {
    return Number.parseInt(readFileSync(join(directory, useMark), 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/** What the count is if the process ends now; 0 when it is closed in order. */
export function noteUncleanEnds(directory: string, count: number): void {
  const mark = join(directory, useMark);
  try {
    if (count === 0) rmSync(mark, { force: true });
    else writeFileSync(mark, String(count));
  } catch {
    // On a full disk, or where there is no folder yet, nothing is counted.
  }
}
