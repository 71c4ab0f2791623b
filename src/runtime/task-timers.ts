import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Cancellable, ScheduleOptions } from '../processors/operator.js';
import { PunctuationQueue } from '../time/punctuation-queue.js';
import type { TaskEnding } from './task-ending.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';
import type { WiredTask } from './task-wiring.js';
import { stageOf, type TimeStage } from './time-stages.js';
import { TimerNames } from './timer-names.js';

/** Timers that the operators of a task have asked for: those of stream time lie with their stage, which fires them; those of the wall clock here. */
export class TaskTimers {
  private readonly byWallClock = new PunctuationQueue();
  private readonly names = new TimerNames();

  constructor(
    private readonly wired: WiredTask,
    private readonly stages: readonly TimeStage[],
    private readonly record: TaskRecord,
    private readonly ending: TaskEnding,
    private readonly env: TaskEnvironment,
  ) {}

  /** When the next one of the wall clock is due, ms since the epoch; Infinity without any. */
  get nextAt(): number {
    return this.byWallClock.nextAt;
  }

  schedule(node: string, options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    const { env, record } = this;
    const { guards, failures } = this.wired;
    const guard = guards.get(node);
    const fire = (timestamp: number, timer: string | null = null): MaybeAsync => {
      record.enterTimer(timestamp, timer);
      env.metrics.punctuations++;
      return guard === undefined ? callback(timestamp) : guard.punctuate(callback, timestamp);
    };
    if (options.time === 'stream') {
      const scheduled = stageOf(this.stages, node).timers.schedule(options.startAt ?? 0, options.interval, fire);
      return this.ending.watch(node, fire, scheduled);
    }
    const timer = this.names.take(node);
    const { name } = timer;
    const startAt = options.startAt ?? env.wallClock() + options.interval;
    const scheduled = this.byWallClock.schedule(startAt, options.interval, (timestamp) => {
      const firing = fire(timestamp, name);
      if (firing !== undefined) return firing.then(() => failures.timerEnded(name));
      failures.timerEnded(name);
    });
    return {
      cancel: () => {
        scheduled.cancel();
        timer.release();
      },
    };
  }

  /** Fires those of the wall clock that are due. */
  punctuate(wallClock: number): MaybeAsync {
    return this.byWallClock.punctuate(wallClock);
  }

  clear(): void {
    for (const { timers } of this.stages) timers.clear();
    this.byWallClock.clear();
  }
}
