import type { ActiveTask } from './active-task.js';

/** How long tasks that are given up may go on with what asynchronous operators have begun, ms. What is left then is called again by their next owner. */
export const drainMs = 5000;

interface Drain {
  readonly tasks: readonly ActiveTask[];
  readonly end: () => void;
}

/** Tasks that take no more records and finish what they have: they go on in the thread's loop, which asks here after each turn. */
export class Drains {
  private waiting: Drain[] = [];

  /** Resolves when nothing of the tasks is unfinished, when they have failed, or after `drainMs`. */
  async finish(tasks: readonly ActiveTask[]): Promise<void> {
    const unfinished = tasks.filter(({ task }) => task.unfinishedCount > 0);
    if (unfinished.length === 0) return;
    for (const { task } of unfinished) task.takesInput = false;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => drain.end(), drainMs);
      const drain: Drain = {
        tasks: unfinished,
        end: () => {
          clearTimeout(timer);
          this.waiting = this.waiting.filter((other) => other !== drain);
          resolve();
        },
      };
      this.waiting.push(drain);
    });
  }

  /** After a turn of the loop. */
  check(): void {
    for (const { tasks, end } of this.waiting) if (tasks.every(({ task }) => task.unfinishedCount === 0)) end();
  }

  /** The tasks have failed, or are to end at once. */
  giveUp(): void {
    for (const { end } of this.waiting) end();
  }
}
