/**
 * What this process has of each task's state: for tasks that are open as far as their stores have got, for closed ones as noted on disk.
 *
 * The group's leader sends tasks where their state is and tells a short catch-up from a long one by it. It is an estimate: the note on disk is written now and then
 * and when a task is closed, apart from the state itself, so after a crash it is a little behind. Nothing but the choice of an instance depends on it.
 */
import type { Logger } from '../observability/logger.js';
import { parseTaskId } from '../rebalance/task-id.js';
import type { TaskOffsetSum } from '../rebalance/member-subscription.js';
import type { InstanceDirectory } from '../stores/state-directory.js';
import type { EngineClaim, EngineMemory } from '../stores/engine-memory.js';
import { isPersistent } from '../stores/store-resumption.js';
import { TaskState, type TaskStateOptions } from '../stores/task-state.js';

/** Bytes that the open tasks of a thread take for rows in memory, and their databases for themselves. */
export interface LocalStateMemory {
  readonly cachedBytes: number;
  readonly engineBytes: number;
}

/** What tasks with databases share. */
export interface SharedMemory {
  /** Bytes of clean rows of all tasks here. */
  readonly cacheBytes: () => number;
  /** Ids of the tasks with databases that are open here, or to be opened soon. */
  readonly wanted: () => readonly string[];
}

export class LocalState {
  private readonly opened = new Map<string, TaskState>();
  /** Bytes of the database by its state. */
  private readonly databases = new Map<TaskState, number>();
  /** Tasks whose databases are open or being opened. */
  private readonly claimed = new Set<string>();

  private constructor(
    private readonly directory: Pick<InstanceDirectory, 'rememberOffsetSum' | 'claim'>,
    private readonly logger: Logger,
    private readonly engines: EngineMemory,
    /** As last noted on disk. */
    private readonly noted: Map<string, number>,
  ) {}

  static async read(
    directory: Pick<InstanceDirectory, 'tasks' | 'offsetSum' | 'rememberOffsetSum' | 'claim'>,
    engines: EngineMemory,
    logger: Logger,
  ): Promise<LocalState> {
    const tasks = await directory.tasks();
    const noted = await Promise.all(tasks.map(async (task): Promise<[string, number]> => [task, (await directory.offsetSum(task)) ?? 0]));
    return new LocalState(directory, logger, engines, new Map(noted));
  }

  /** Opens the state of a task; it counts as open until it is closed. Waits for another thread of the process that has its folder. */
  async open(given: Omit<TaskStateOptions, 'cacheBytes' | 'engineBytes'>, shared: SharedMemory): Promise<TaskState> {
    const { taskId } = given;
    const claim = isPersistent(given) ? await this.claim(taskId, shared) : null;
    const place = claim === null ? { directory: null } : { engineBytes: claim.engineBytes };
    let state: TaskState;
    try {
      state = await TaskState.open({
        ...given,
        ...place,
        cacheBytes: 0,
        onClosed: () => {
          this.databases.delete(state);
          this.shareCache(shared.cacheBytes());
          this.closed(taskId, state)
            .finally(() => claim?.giveBack())
            .catch(() => undefined);
        },
      });
    } catch (error) {
      claim?.giveBack();
      throw error;
    }
    if (claim !== null) this.databases.set(state, claim.engineBytes);
    this.shareCache(shared.cacheBytes());
    if (given.specs.some(({ logged }) => logged)) this.opened.set(taskId, state);
    return state;
  }

  get memory(): LocalStateMemory {
    let [cachedBytes, engineBytes] = [0, 0];
    for (const [state, bytes] of this.databases) {
      cachedBytes += state.cachedBytes;
      engineBytes += bytes;
    }
    return { cachedBytes, engineBytes };
  }

  /** Called when what tasks share has changed, or their number. */
  shareCache(cacheBytes: number): void {
    const share = Math.floor(cacheBytes / Math.max(1, this.databases.size));
    for (const state of this.databases.keys()) state.cacheBytes = share;
  }

  get tasks(): TaskOffsetSum[] {
    const sums = new Map(this.noted);
    for (const [task, state] of this.opened) sums.set(task, state.offsetSum);
    return [...sums].map(([task, offsetSum]) => ({ task: parseTaskId(task), offsetSum }));
  }

  /** Notes on disk how far the open tasks have got. */
  save(): void {
    for (const [task, state] of this.opened) void this.note(task, state);
  }

  removed(tasks: readonly string[]): void {
    for (const task of tasks) this.noted.delete(task);
  }

  private async claim(taskId: string, { wanted }: SharedMemory): Promise<EngineClaim> {
    const openings = 1 + wanted().filter((id) => id !== taskId && !this.claimed.has(id)).length;
    this.claimed.add(taskId);
    try {
      const { engineBytes, giveBack } = (await this.directory.claim?.(taskId, openings)) ?? this.engines.claim(openings);
      return {
        engineBytes,
        giveBack: () => {
          this.claimed.delete(taskId);
          giveBack();
        },
      };
    } catch (error) {
      this.claimed.delete(taskId);
      throw error;
    }
  }

  private async closed(task: string, state: TaskState): Promise<void> {
    if (this.opened.get(task) !== state) return;
    this.opened.delete(task);
    await this.note(task, state);
  }

  private async note(task: string, state: TaskState): Promise<void> {
    const { offsetSum } = state;
    if (!state.isPersistent || this.noted.get(task) === offsetSum) return;
    this.noted.set(task, offsetSum);
    try {
      await this.directory.rememberOffsetSum(task, offsetSum);
    } catch (error) {
      this.logger.warn({ taskId: task, error: String(error) }, 'how far the local state has got could not be noted');
    }
  }
}
