/** Cases `{ mode, steps: [{ in, timersFired, eventTimers, procTimers }] }`: what the argument of a record does to timers depends on the mode. */
import { TimerService } from '../../src/processors/timers/timer-service.js';
import type { Timer } from '../../src/processors/timers/timer-queue.js';
import { isObject, list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs, shownWatermark } from './shown.js';

export function timersCase({ value }: CaseEntry): ConformanceCase | null {
  if (typeof value.mode !== 'string' || !('steps' in value)) return null;
  return { name: text(value, 'name'), run: async () => new Run(text(value, 'mode')).steps(list(value, 'steps') as readonly JsonObject[]) };
}

class Run {
  private key: unknown = null;
  private now = 0;
  private timers = this.makeTimers();
  private fired: Json[] = [];

  constructor(private readonly mode: string) {}

  steps(steps: readonly JsonObject[]): string[] {
    return steps.flatMap((step, at) => {
      this.fired = [];
      this.perform(step.in);
      return [
        ...differs(`step ${at}`, step.timersFired, this.fired),
        ...differs(`step ${at}, event timers`, step.eventTimers, this.timers.eventTimers),
        ...differs(`step ${at}, processing timers`, step.procTimers, this.timers.processingTimers),
      ];
    });
  }

  private perform(input: Json | undefined): void {
    if (input === 'snapshot+restore') {
      const snapshot = this.timers.snapshot();
      this.timers = this.makeTimers();
      this.timers.restore(snapshot);
    } else if (isObject(input) && typeof input.watermark === 'number') {
      this.timers.advanceWatermark(input.watermark);
      for (let timer = this.timers.nextEventTimer(); timer !== null; timer = this.timers.nextEventTimer()) this.fire(timer, 'EVENT_TIME');
    } else if (isObject(input) && typeof input.processingTime === 'number') {
      this.now = input.processingTime;
      for (let timer = this.timers.nextProcessingTimer(this.now); timer !== null; timer = this.timers.nextProcessingTimer(this.now)) {
        this.fire(timer, 'PROCESSING_TIME');
      }
    } else if (isObject(input)) {
      this.key = text(input, 'key');
      this.register(number(input, 'arg'));
    }
  }

  private register(arg: number): void {
    if (this.mode === 'proc') this.timers.registerProcessingTimer('', arg);
    else if (arg < 0 && this.mode === 'delete') this.timers.deleteEventTimer('', -arg);
    else this.timers.registerEventTimer('', arg);
  }

  private fire({ key, time }: Timer, domain: string): void {
    const out = `timer|${String(key)}|${time}|${domain}|wm=${String(shownWatermark(this.timers.currentWatermark))}`;
    this.fired.push({ out, ts: domain === 'EVENT_TIME' ? time : null });
    this.key = key;
    if (this.mode === 'chain' && time < 40) this.timers.registerEventTimer('', time + 10);
  }

  private makeTimers(): TimerService {
    return new TimerService({ currentKey: () => this.key }, () => this.now);
  }
}
