import { noTasks, type StreamsTaskSets } from './streams-group-protocol.js';
import { formatTaskId, type TaskId } from './task-id.js';
import { TaskOwnership } from './task-ownership.js';

/** The tasks of a streams group's member: what it is to run, what it runs, and what it has said that it runs. */
export class StreamsTaskBook {
  readonly running = new TaskOwnership();
  /** As the broker said last. */
  target: StreamsTaskSets = noTasks;
  /** The broker has given the target in an answer, and waits to hear that it runs. Also when that is what ran before: something may have been given and taken away in between. */
  private awaitsReport = false;
  /** Copies that the application was told to keep. */
  private held: Pick<StreamsTaskSets, 'standby' | 'warmup'> = noTasks;
  /** What the broker knows to be owned; null: unknown. */
  private reported: string | null = null;

  /** The broker does not know what runs here. */
  get hasNews(): boolean {
    return textOf(this.owned) !== this.reported;
  }

  told(target: StreamsTaskSets): void {
    this.awaitsReport ||= !this.isTarget(target);
    this.target = target;
  }

  isTarget(tasks: StreamsTaskSets): boolean {
    return textOf(tasks) === textOf(this.target);
  }

  /** What to say in a heartbeat; null: as said before. */
  report(): StreamsTaskSets | null {
    const isNews = this.hasNews;
    this.reported = textOf(this.owned);
    return isNews ? this.owned : null;
  }

  /** What was said may not have been heard. */
  forgetReport(): void {
    this.reported = null;
  }

  /** `target` runs from now on. Returns the tasks that are new. */
  takeOver(): readonly TaskId[] {
    const { active, standby, warmup } = this.target;
    this.held = { standby, warmup };
    if (this.awaitsReport) this.forgetReport();
    this.awaitsReport = false;
    return this.running.takeOver(active);
  }

  /** Returns what ran. */
  clear(): readonly TaskId[] {
    this.target = this.held = noTasks;
    this.awaitsReport = false;
    this.reported = null;
    return this.running.clear();
  }

  private get owned(): StreamsTaskSets {
    return { active: this.running.tasks, standby: this.held.standby, warmup: this.held.warmup };
  }
}

/** The same for the same tasks, whatever their order. */
function textOf({ active, standby, warmup }: StreamsTaskSets): string {
  return [active, standby, warmup].map((tasks) => tasks.map(formatTaskId).sort().join()).join(';');
}
