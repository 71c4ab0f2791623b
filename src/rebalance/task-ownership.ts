/**
 * The tasks that the application of one member runs, as far as the group is concerned.
 *
 * A task enters with `takeOver` and leaves when the application has given it up or been told that it is lost; until then every join claims it.
 */
import { formatTaskId, type TaskId } from './task-id.js';

export class TaskOwnership {
  private owned = new Map<string, TaskId>();
  private givingUp: readonly TaskId[] = [];

  get tasks(): readonly TaskId[] {
    return [...this.owned.values()];
  }

  get isEmpty(): boolean {
    return this.owned.size === 0;
  }

  /** Owned tasks that `next` no longer has; they count as being given up from now on. */
  beginShrink(next: readonly TaskId[]): readonly TaskId[] {
    const kept = new Set(next.map(formatTaskId));
    this.givingUp = this.tasks.filter((task) => !kept.has(formatTaskId(task)));
    return this.givingUp;
  }

  /** Owned tasks that the application has not yet been asked to give up. */
  beginGiveUpAll(): readonly TaskId[] {
    const asked = new Set(this.givingUp.map(formatTaskId));
    this.givingUp = this.tasks;
    return this.givingUp.filter((task) => !asked.has(formatTaskId(task)));
  }

  /** The application has given up what it was asked to. */
  forgetGivenUp(): void {
    for (const task of this.givingUp) this.owned.delete(formatTaskId(task));
    this.givingUp = [];
  }

  /** Returns the tasks that are new. */
  takeOver(next: readonly TaskId[]): readonly TaskId[] {
    const added = next.filter((task) => !this.owned.has(formatTaskId(task)));
    this.owned = new Map(next.map((task) => [formatTaskId(task), task]));
    this.givingUp = [];
    return added;
  }

  /** Returns what was owned. */
  clear(): readonly TaskId[] {
    const { tasks } = this;
    this.owned.clear();
    this.givingUp = [];
    return tasks;
  }
}
