/**
 * A lock that a process holds on a directory until it ends, however it ends.
 *
 * It is LevelDB's own: an fcntl lock on a file, plus a table of the locks within the process. The kernel drops it with the process, so kill -9 leaves nothing stale
 * and a process id that is used again means nothing; two apps in one process exclude each other too. Node itself has no such lock, and lock files with
 * process ids in them are wrong after a crash, across containers that share a volume, and in the gap between look and write.
 */
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../errors.js';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** null when somebody else holds it. Errors: MILL_STORE_IO. */
export async function tryLockDirectory(directory: string): Promise<DirectoryLock | null> {
  const database = new ClassicLevel(join(directory, 'lock'));
  try {
    await database.open();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if ((cause as { code?: unknown }).code === 'LEVEL_LOCKED') return null;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError('MILL_STORE_IO', `The state directory ${directory} can’t be locked: ${reason}`, {
      cause,
      details: { directory },
    });
  }
  return { release: () => database.close() };
}

/**
 * Holds the database of a task, so that nobody opens it meanwhile. `held`: somebody has it open. A folder without a database that can be opened is in nobody's use, and needs no lock.
 */
export async function tryLockDatabase(folder: string): Promise<DirectoryLock | 'held'> {
  const database = new ClassicLevel(folder, { createIfMissing: false });
  try {
    await database.open();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return (cause as { code?: unknown }).code === 'LEVEL_LOCKED' ? 'held' : { release: () => Promise.resolve() };
  }
  return { release: () => database.close() };
}
