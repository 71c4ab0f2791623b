/**
 * The timers of one operator: in event time and in processing time, of the current key, by namespace.
 *
 * The owner moves time and takes due timers out one by one (`nextEventTimer`, `nextProcessingTimer`), so that any number of them can be worked off in
 * portions. A timer that is registered while timers fire, at or before the time that has come, fires in the same advance. One that is registered at or before
 * the current watermark otherwise waits for the next watermark.
 */
import type { KeyedStateBackend } from '../state/keyed-state-backend.js';
import { shown } from '../../errors/checked-options.js';
import { noWatermark } from '../../time/watermarks/watermark.js';
import { TimerQueue, type Timer } from './timer-queue.js';

/** By watermarks, or by the wall clock. */
export type TimerKind = 'event' | 'processing';

/** Writes timers down, so that they are there again after a restart. */
export interface TimerLog {
  added(kind: TimerKind, timer: Timer): void;
  removed(kind: TimerKind, timer: Timer): void;
}

export interface TimerSnapshot {
  readonly event: readonly Timer[];
  readonly processing: readonly Timer[];
}

export class TimerService {
  private readonly event = new TimerQueue();
  private readonly processing = new TimerQueue();
  private watermark = noWatermark;

  constructor(
    private readonly backend: Pick<KeyedStateBackend, 'currentKey'>,
    private readonly clock: () => number,
    private readonly log: TimerLog | null = null,
  ) {}

  get currentWatermark(): number {
    return this.watermark;
  }

  get eventTimers(): number {
    return this.event.size;
  }

  get processingTimers(): number {
    return this.processing.size;
  }

  /** ms of the wall clock; Infinity when there is no processing-time timer. */
  get nextProcessingAt(): number {
    return this.processing.nextAt;
  }

  get hasDueEventTimers(): boolean {
    // Both are Infinity when there is none and nothing more is to come.
    return this.event.size > 0 && this.event.nextAt <= this.watermark;
  }

  /** The last event-time timer that is not set for the end of time, ms; -Infinity when there is none. */
  get lastEventAt(): number {
    return this.event.lastAt;
  }

  /** True when all that is left is set for the end of time. */
  get waitsForTheEnd(): boolean {
    return this.event.size > 0 && this.event.nextAt === Infinity;
  }

  processingTime(): number {
    return this.clock();
  }

  registerEventTimer(namespace: string, time: number): void {
    this.register('event', this.event, namespace, time);
  }

  registerProcessingTimer(namespace: string, time: number): void {
    this.register('processing', this.processing, namespace, time);
  }

  deleteEventTimer(namespace: string, time: number): void {
    this.remove('event', this.event, namespace, time);
  }

  deleteProcessingTimer(namespace: string, time: number): void {
    this.remove('processing', this.processing, namespace, time);
  }

  /** Moves event time; never back. Then take out what is due with `nextEventTimer`. */
  advanceWatermark(watermark: number): void {
    if (watermark > this.watermark) this.watermark = watermark;
  }

  nextEventTimer(): Timer | null {
    return this.take('event', this.event, this.watermark);
  }

  /** @param now ms of the wall clock */
  nextProcessingTimer(now: number): Timer | null {
    return this.take('processing', this.processing, now);
  }

  snapshot(): TimerSnapshot {
    return { event: this.event.timers(), processing: this.processing.timers() };
  }

  /** Puts timers of an earlier life back, unlogged. The watermark starts anew. */
  restore({ event, processing }: TimerSnapshot): void {
    for (const { key, namespace, time } of event) this.event.add(key, namespace, time);
    for (const { key, namespace, time } of processing) this.processing.add(key, namespace, time);
  }

  private register(kind: TimerKind, queue: TimerQueue, namespace: string, time: number): void {
    if (typeof time !== 'number' || !(time > -Infinity)) throw noTime(kind, time);
    const key = this.backend.currentKey();
    if (queue.add(key, namespace, time)) this.log?.added(kind, { time, key, namespace });
  }

  private remove(kind: TimerKind, queue: TimerQueue, namespace: string, time: number): void {
    const key = this.backend.currentKey();
    if (queue.delete(key, namespace, time)) this.log?.removed(kind, { time, key, namespace });
  }

  private take(kind: TimerKind, queue: TimerQueue, time: number): Timer | null {
    const timer = queue.poll(time);
    if (timer !== null) this.log?.removed(kind, timer);
    return timer;
  }
}

/** Such a timer would never fire, or at once and in no order, and would be there again after each restart. */
function noTime(kind: TimerKind, time: unknown): TypeError {
  return new TypeError(`A timer in ${kind} time needs a number of milliseconds, not ${shown(time)}.`);
}
