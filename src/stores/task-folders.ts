/** The folders that tasks keep their state in, below the folder of an instance. Whoever uses one must own it: the instance's lock, and among its threads their claims, see to that. */
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../errors.js';

export class TaskFolders {
  constructor(
    /** The instance's folder. */
    readonly root: string,
  ) {}

  taskDirectory(taskId: string): string {
    return join(this.root, 'tasks', taskId);
  }

  /** Ids of the tasks that have state here. */
  async tasks(): Promise<string[]> {
    try {
      return (await readdir(join(this.root, 'tasks'))).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw unusable(this.root, error);
    }
  }

  /** As last noted by `rememberOffsetSum`; null: not known. */
  async offsetSum(taskId: string): Promise<number | null> {
    try {
      const sum = Number.parseInt(await readFile(this.offsetSumFile(taskId), 'utf8'), 10);
      return Number.isSafeInteger(sum) && sum >= 0 ? sum : null;
    } catch {
      // An estimate is not worth an error.
      return null;
    }
  }

  /** Notes the sum of the changelog offsets that the task's state has reached. A crash may leave an older one, or none. */
  async rememberOffsetSum(taskId: string, sum: number): Promise<void> {
    await writeFile(this.offsetSumFile(taskId), String(sum));
  }

  async removeTask(taskId: string): Promise<void> {
    await rm(this.taskDirectory(taskId), { recursive: true, force: true });
  }

  /**
   * Deletes the state of tasks that are not `owned` and were not written for `olderThanMs` (Kafka Streams' `state.cleanup.delay.ms`, 10 minutes there). Returns their ids.
   */
  async removeStale(owned: ReadonlySet<string>, olderThanMs: number, now = Date.now()): Promise<string[]> {
    const removed: string[] = [];
    for (const taskId of await this.tasks()) {
      if (owned.has(taskId) || now - (await this.lastWritten(taskId)) < olderThanMs) continue;
      await this.removeTask(taskId);
      removed.push(taskId);
    }
    return removed;
  }

  private offsetSumFile(taskId: string): string {
    return join(this.taskDirectory(taskId), 'offset-sum');
  }

  private async lastWritten(taskId: string): Promise<number> {
    const folder = join(this.taskDirectory(taskId), 'db');
    try {
      let latest = (await stat(this.taskDirectory(taskId))).mtimeMs;
      for (const file of await filesIn(folder)) latest = Math.max(latest, (await stat(join(folder, file))).mtimeMs);
      return latest;
    } catch {
      // Files come and go while the database is in use: then it is not old. What can't be looked at is left alone.
      return Date.now();
    }
  }
}

/** Empty when there is no such folder. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ENOENT';
}

export function unusable(directory: string, cause: unknown): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MillraceError('MILL_STORE_IO', `The state directory ${directory} can’t be used: ${reason}`, { cause, details: { directory } });
}
