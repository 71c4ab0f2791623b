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
import { TaskState, type TaskStateOptions } from '../stores/task-state.js';

export class LocalState {
  private readonly opened = new Map<string, TaskState>();

  private constructor(
    private readonly directory: Pick<InstanceDirectory, 'rememberOffsetSum' | 'claim'>,
    private readonly logger: Logger,
    /** As last noted on disk. */
    private readonly noted: Map<string, number>,
  ) {}

  static async read(
    directory: Pick<InstanceDirectory, 'tasks' | 'offsetSum' | 'rememberOffsetSum' | 'claim'>,
    logger: Logger,
  ): Promise<LocalState> {
    const tasks = await directory.tasks();
    const noted = await Promise.all(tasks.map(async (task): Promise<[string, number]> => [task, (await directory.offsetSum(task)) ?? 0]));
    return new LocalState(directory, logger, new Map(noted));
  }

  /** Opens the state of a task; it counts as open until it is closed. Waits for another thread of the process that has its folder. */
  async open(options: TaskStateOptions): Promise<TaskState> {
    const { taskId } = options;
    const giveBack = options.directory === null ? null : ((await this.directory.claim?.(taskId)) ?? null);
    let state: TaskState;
    try {
      state = await TaskState.open({
        ...options,
        onClosed: () => {
          this.closed(taskId, state)
            .finally(() => giveBack?.())
            .catch(() => undefined);
        },
      });
    } catch (error) {
      giveBack?.();
      throw error;
    }
    if (options.specs.some(({ logged }) => logged)) this.opened.set(taskId, state);
    return state;
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
