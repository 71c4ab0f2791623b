/** The folders that tasks keep their state in, below the folder of an instance. Whoever uses one must own it: the instance's lock, and among its threads their claims, see to that. */
import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../errors.js';
import { tryLockDatabase } from './directory-lock.js';

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

  /**
   * Deletes the state of tasks that are not in use and were not written for `olderThanMs` (Kafka Streams' `state.cleanup.delay.ms`, 10 minutes there). Returns their ids.
   *
   * A task may come back at any moment: who holds its database keeps it, and what goes is first moved away, in one step that is taken only while nobody wants the task.
   *
   * @param isInUse asked at the last moment, since tasks come and go meanwhile
   */
  async removeStale(isInUse: (taskId: string) => boolean, olderThanMs: number, now = Date.now()): Promise<string[]> {
    const removed: string[] = [];
    for (const taskId of await this.tasks()) {
      if (isInUse(taskId) || now - (await this.lastWritten(taskId)) < olderThanMs) continue;
      if (await this.removeTask(taskId, isInUse)) removed.push(taskId);
    }
    await this.emptyRemoved();
    return removed;
  }

  /**
   * The folders of these sub-topologies are those of others from now on. What lies where they go moves as well, or is deleted. No task may be open.
   *
   * @param numbers new ones by old ones
   */
  protected async renumber(numbers: ReadonlyMap<number, number>): Promise<void> {
    try {
      const moves = (await this.tasks()).flatMap((taskId) => {
        const [number, partition] = taskId.split('_');
        const heir = numbers.get(Number(number));
        return heir === undefined ? [] : [{ from: taskId, to: `${heir}_${partition}` }];
      });
      if (moves.length === 0) return;
      // Out of each other's way first: two may change places.
      const between = join(this.root, 'removed', randomUUID());
      await mkdir(between, { recursive: true });
      for (const { from } of moves) renameSync(this.taskDirectory(from), join(between, from));
      for (const { from, to } of moves) {
        if ((await this.tasks()).includes(to)) await this.removeTask(to, () => false);
        renameSync(join(between, from), this.taskDirectory(to));
      }
      await this.emptyRemoved();
    } catch (error) {
      throw error instanceof MillraceError ? error : unusable(this.root, error);
    }
  }

  /** Deletes the state of every task; the identity stays. Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. */
  async removeAll(): Promise<string[]> {
    const removed: string[] = [];
    try {
      for (const taskId of await this.tasks()) {
        if (!(await this.removeTask(taskId, () => false))) {
          throw new MillraceError('MILL_STORE_DIRECTORY_LOCKED', `The state of task ${taskId} in ${this.root} is in use`, {
            details: { directory: this.taskDirectory(taskId), task: taskId },
          });
        }
        removed.push(taskId);
      }
      await this.emptyRemoved();
    } catch (error) {
      throw error instanceof MillraceError ? error : unusable(this.root, error);
    }
    return removed;
  }

  /** False when somebody uses it. */
  private async removeTask(taskId: string, isInUse: (taskId: string) => boolean): Promise<boolean> {
    const folder = this.taskDirectory(taskId);
    const lock = await tryLockDatabase(join(folder, 'db'));
    if (lock === 'held') return false;
    try {
      if (isInUse(taskId)) return false;
      const removed = join(this.root, 'removed');
      await mkdir(removed, { recursive: true });
      if (isInUse(taskId)) return false;
      renameSync(folder, join(removed, `${taskId}-${randomUUID()}`));
      return true;
    } finally {
      await lock.release();
    }
  }

  private async emptyRemoved(): Promise<void> {
    await rm(join(this.root, 'removed'), { recursive: true, force: true });
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
