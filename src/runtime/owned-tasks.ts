import { MillraceError } from '../errors.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import type { Logger } from '../observability/logger.js';
import type { ActiveTask } from './active-task.js';
import { recoveryOf, recoveryPause } from './recovery.js';
import type { StandbyTasks } from './standby-tasks.js';
import type { TaskOpener } from './task-opener.js';
import type { TaskPlan } from './task-plan.js';

export interface OwnedTasksParts {
  readonly fetcher: Fetcher;
  readonly opener: TaskOpener;
  readonly standbys: StandbyTasks;
  readonly planOf: (taskId: string) => Promise<TaskPlan>;
  readonly logger: Logger;
  /** A task runs from now on; it may be dirty already. */
  readonly onAdopted: (active: ActiveTask) => void;
  /** A task was opened, or will not be. */
  readonly onOpeningEnded: () => void;
  /** A task can't be opened, and trying again does not help. */
  readonly onFailure: (error: unknown) => void;
}

interface Opening {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/**
 * The tasks that the group gave to a stream thread, on their way from being owned over being opened to running, and to their end. `StreamThread` says when.
 *
 * Invariants: a task is opened while it is owned alone; what its opening brings after that is closed without a commit. The fetcher reads for a task as long as it runs.
 */
export class OwnedTasks {
  /** What the group gave to this thread. */
  readonly ids = new Set<string>();
  readonly running = new Map<string, ActiveTask>();
  private readonly opening = new Map<string, Opening>();
  /** Closes under way, whoever asked for them. */
  private readonly closings = new Set<Promise<void>>();

  constructor(private readonly parts: OwnedTasksParts) {}

  /** True when everything owned runs. */
  get allRun(): boolean {
    return this.opening.size === 0 && [...this.ids].every((id) => this.running.has(id));
  }

  /** Whether the task runs, or is about to. */
  isLive(id: string): boolean {
    return this.running.has(id) || this.opening.has(id);
  }

  /** Opens what is owned and neither runs nor is being opened. */
  openMissing(): void {
    for (const id of this.ids) if (!this.isLive(id)) this.open(id);
  }

  /** Resolves when none of them is being opened any more; default: of all. */
  async stopOpening(ids: Iterable<string> = [...this.opening.keys()]): Promise<void> {
    const stopping = [...ids].flatMap((id) => this.opening.get(id) ?? []);
    for (const { controller } of stopping) controller.abort(new MillraceError('MILL_STATE_INVALID', 'the task is given up'));
    await Promise.all(stopping.map(({ done }) => done));
  }

  /** Closes all of them whatever happens to one; throws what the first of them threw. `clean`: everything they did is committed. Default: all that run. */
  async close(clean: boolean, ids: Iterable<string> = [...this.running.keys()]): Promise<void> {
    const ends = await Promise.allSettled([...ids].map((id) => this.closeOne(id, clean)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Resolves when every close that is under way has ended, well or not. */
  async closed(): Promise<void> {
    await Promise.allSettled(this.closings);
  }

  private open(id: string): void {
    const controller = new AbortController();
    const done = this.openUntilDone(id, controller.signal).finally(() => {
      this.opening.delete(id);
      this.parts.onOpeningEnded();
    });
    this.opening.set(id, { controller, done });
  }

  private async openUntilDone(id: string, signal: AbortSignal): Promise<void> {
    const givenUp = (): boolean => signal.aborted || !this.ids.has(id);
    for (let attempt = 1; !givenUp(); attempt++) {
      try {
        const active = await this.parts.opener.open(await this.parts.planOf(id), signal, () => this.parts.standbys.release(id));
        if (givenUp()) {
          await active.close(false);
          return;
        }
        this.adopt(active);
        return;
      } catch (error) {
        if (givenUp()) return;
        if (recoveryOf(error) !== 'recover') {
          this.parts.onFailure(error);
          return;
        }
        this.parts.logger.warn({ taskId: id, error: String(error), attempt }, 'could not open the task; trying again');
        await delay(backoffMs(attempt, recoveryPause, Math.random), signal).catch(() => undefined);
      }
    }
  }

  private adopt(active: ActiveTask): void {
    this.running.set(active.id, active);
    for (const { topic, partition, offset, topicId, hasEnded } of active.task.positions())
      if (hasEnded !== true) this.parts.fetcher.assign({ topic, partition }, offset, topicId);
    this.parts.onAdopted(active);
  }

  private async closeOne(id: string, clean: boolean): Promise<void> {
    const active = this.running.get(id);
    if (active === undefined) return;
    this.running.delete(id);
    for (const { topic, partition } of active.task.positions()) this.parts.fetcher.unassign({ topic, partition });
    const closing = active.close(clean);
    const forget = (): void => {
      this.closings.delete(closing);
    };
    this.closings.add(closing);
    closing.then(forget, forget);
    await closing;
  }
}
