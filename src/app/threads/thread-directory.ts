import { delay } from '../../kafka/backoff.js';
import { MillraceError } from '../../errors.js';
import type { EngineClaim } from '../../stores/engine-memory.js';
import type { InstanceDirectory } from '../../stores/state-directory.js';
import { TaskFolders } from '../../stores/task-folders.js';
import type { MessageCalls } from './message-calls.js';
import type { AppSide, ThreadSetup, ThreadSide } from './thread-protocol.js';

/** How long a thread waits for a folder before it says so and tries again: long enough for a database to be written and closed, ms. */
const longestWaitMs = 2_000;

/**
 * The state directory as one of several threads sees it. The instance holds the lock; the threads share the folders of tasks, and each opens one only while it
 * has claimed it.
 */
export class ThreadDirectory implements InstanceDirectory {
  readonly processId: string;
  private readonly folders: TaskFolders | null;
  private readonly known: string | null;
  private nextTicket = 1;

  constructor(
    private readonly setup: Pick<ThreadSetup, 'index' | 'directory'>,
    private readonly app: MessageCalls<ThreadSide, AppSide>,
  ) {
    const { root, processId, memberId } = setup.directory;
    this.folders = root === null ? null : new TaskFolders(root);
    this.processId = processId;
    this.known = memberId;
  }

  memberId(thread: string): string | null {
    return thread === String(this.setup.index) ? this.known : null;
  }

  async rememberMember(_thread: string, memberId: string | null): Promise<void> {
    await this.app.call('rememberMember', memberId);
  }

  taskDirectory(taskId: string): string | null {
    return this.folders?.taskDirectory(taskId) ?? null;
  }

  async tasks(): Promise<string[]> {
    return this.folders?.tasks() ?? [];
  }

  async offsetSum(taskId: string): Promise<number | null> {
    return this.folders?.offsetSum(taskId) ?? null;
  }

  async rememberOffsetSum(taskId: string, sum: number): Promise<void> {
    await this.folders?.rememberOffsetSum(taskId, sum);
  }

  async removeStale(isInUse: (taskId: string) => boolean, olderThanMs: number): Promise<string[]> {
    const owned = (await this.tasks()).filter(isInUse);
    return [...(await this.app.call('removeStale', { owned, olderThanMs }))];
  }

  readonly claim = async (taskId: string, openings: number): Promise<EngineClaim> => {
    const claim = { taskId, ticket: this.nextTicket++ };
    const giveBack = (): void => {
      this.app.tell('release', claim);
    };
    const patience = new AbortController();
    const late = delay(longestWaitMs, patience.signal).then(
      () => null,
      () => null,
    );
    const engineBytes = await Promise.race([this.app.call('claim', { ...claim, openings }), late]).finally(() => {
      patience.abort();
    });
    if (engineBytes !== null) return { engineBytes, giveBack };
    giveBack();
    throw new MillraceError('MILL_STORE_DIRECTORY_LOCKED', `The state of task ${taskId} is still open in another thread of this process`, {
      details: { task: taskId, waitedMs: longestWaitMs },
    });
  };

  /** The instance keeps it. */
  release(): Promise<void> {
    return Promise.resolve();
  }
}
