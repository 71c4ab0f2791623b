import type { Logger } from '../observability/logger.js';
import type { ActiveTask } from './active-task.js';

/**
 * Warns, once for each, of user functions that a task waits for so long that the open transaction is in danger: the barrier waits too, and the broker aborts a
 * transaction that is open for `transactionTimeout`.
 */
export class LongWaits {
  private readonly told = new WeakMap<ActiveTask, number>();

  constructor(
    private readonly transactionTimeoutMs: number,
    private readonly logger: Logger,
  ) {}

  /** @param now ms of the steady clock */
  check(tasks: Iterable<ActiveTask>, now: number): void {
    for (const active of tasks) {
      const { task } = active;
      if (!task.isBusy || now - task.busySince < this.transactionTimeoutMs / 2 || this.told.get(active) === task.busySince) continue;
      this.told.set(active, task.busySince);
      const { topic, partition, offset } = task.inWork ?? { topic: null, partition: -1, offset: -1 };
      const what = topic === null ? 'a punctuation or flush' : `the record of ${topic}-${partition} at offset ${offset}`;
      this.logger.warn(
        { taskId: active.id, topic, partition, offset, waitedMs: now - task.busySince, transactionTimeout: this.transactionTimeoutMs },
        `a user function has not returned for half of transactionTimeout: ${what} of task ${active.id}; past it the epoch is aborted and processed again`,
      );
    }
  }
}
