/**
 * The schedules of one task in one kind of time (stream time or wall clock), earliest first.
 *
 * Keeps Kafka Streams' rules (PunctuationQueue, PunctuationSchedule): a schedule fires once when time has reached it, however many intervals
 * were missed, and then stands at the next multiple of its interval after the time of firing. Callbacks get the time that was
 * reached, not the time that was due. Pure: the task tells it the time after each record or tick.
 */
import { shown } from '../errors/checked-options.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';

export type Punctuator = (timestamp: number) => MaybeAsync;

export class PunctuationQueue {
  private readonly schedules: Schedule[] = [];
  private sequence = 0;

  /** When the next schedule is due; Infinity when there is none. */
  nextAt = Infinity;

  /**
   * @param startAt first firing, ms since the epoch
   * @param interval ms, at least 1, else MILL_CONFIG_INVALID
   */
  schedule(startAt: number, interval: number, punctuator: Punctuator): { cancel(): void } {
    if (!Number.isSafeInteger(interval) || interval < 1) {
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `schedule: the interval must be a whole number of milliseconds, 1 or more, not ${shown(interval)}.`,
      );
    }
    if (!Number.isSafeInteger(startAt) || startAt < 0) {
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `schedule: startAt must be milliseconds since the epoch, 0 or more, not ${shown(startAt)}.`,
      );
    }
    const schedule = new Schedule(startAt, interval, punctuator, this.sequence++);
    this.insert(schedule);
    return {
      cancel: () => {
        schedule.cancelled = true;
        this.remove(schedule);
      },
    };
  }

  /** Fires what is due at `timestamp`, one after the other. */
  punctuate(timestamp: number): MaybeAsync {
    while (this.nextAt <= timestamp) {
      const schedule = this.schedules[0];
      if (schedule === undefined) return;
      this.remove(schedule);
      const pending = schedule.punctuator(timestamp);
      if (pending !== undefined) return this.punctuateLater(pending, schedule, timestamp);
      this.again(schedule, timestamp);
    }
  }

  clear(): void {
    this.schedules.length = 0;
    this.nextAt = Infinity;
  }

  private async punctuateLater(pending: Promise<void>, schedule: Schedule, timestamp: number): Promise<void> {
    await pending;
    this.again(schedule, timestamp);
    await this.punctuate(timestamp);
  }

  private again(schedule: Schedule, timestamp: number): void {
    if (schedule.cancelled) return;
    const missed = Math.max(0, Math.floor((timestamp - schedule.at) / schedule.interval));
    schedule.at += (missed + 1) * schedule.interval;
    schedule.sequence = this.sequence++;
    this.insert(schedule);
  }

  private insert(schedule: Schedule): void {
    let index = this.schedules.length;
    for (let other = this.schedules[index - 1]; other !== undefined && other.isAfter(schedule); other = this.schedules[index - 1]) index--;
    this.schedules.splice(index, 0, schedule);
    this.nextAt = this.schedules[0]?.at ?? Infinity;
  }

  private remove(schedule: Schedule): void {
    const index = this.schedules.indexOf(schedule);
    if (index >= 0) this.schedules.splice(index, 1);
    this.nextAt = this.schedules[0]?.at ?? Infinity;
  }
}

class Schedule {
  cancelled = false;

  constructor(
    public at: number,
    readonly interval: number,
    readonly punctuator: Punctuator,
    /** Those due at the same time fire in the order in which they were scheduled. */
    public sequence: number,
  ) {}

  isAfter(other: Schedule): boolean {
    return this.at > other.at || (this.at === other.at && this.sequence > other.sequence);
  }
}
