/**
 * Cases `{ assigner, trigger, evictor, allowedLatenessMs, steps }` of `window-operator.json` and `triggers.json`, run by the window engine over state in
 * memory: sum and count of `value` for each key and window. Timers are counted; so are state entries, without the engine's revisions, which Flink has not.
 */
import { KeyedStates } from '../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../src/processors/state/memory-keyed-state-backend.js';
import { TimerService } from '../../src/processors/timers/timer-service.js';
import { aggregatedContents, evictedContents, folded } from '../../src/processors/windowing/window-contents.js';
import { WindowEngine, type WindowDefinition } from '../../src/processors/windowing/window-engine.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import { maxTimestamp } from '../../src/time/windowing/window-span.js';
import { isObject, list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs, shownWatermark } from './shown.js';
import { assignerOf, evictorOf, triggerOf } from './window-vocabulary.js';

interface Sum {
  readonly sum: number;
  readonly count: number;
}

const sum: AggregateFunction<number, Sum, Sum> = {
  initial: () => ({ sum: 0, count: 0 }),
  add: (acc, value) => ({ sum: acc.sum + value, count: acc.count + 1 }),
  result: (acc) => acc,
  merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
};

export function windowOperatorCase({ value }: CaseEntry): ConformanceCase | null {
  if (!('assigner' in value && 'trigger' in value && 'steps' in value)) return null;
  return { name: text(value, 'name'), run: async () => new Run(value).steps() };
}

class Run {
  private readonly definition: WindowDefinition<string, number, Sum, Sum>;
  private fired: JsonObject[] = [];
  private late: JsonObject[] = [];
  private now = 0;
  private backend = new MemoryKeyedStateBackend();
  private timers = this.makeTimers();
  private engine;

  constructor(private readonly value: JsonObject) {
    const assigner = assignerOf(text(value, 'assigner'));
    const evictor = typeof value.evictor === 'string' ? evictorOf(value.evictor) : null;
    this.definition = {
      assigner,
      trigger: triggerOf(text(value, 'trigger'), assigner),
      allowedLateness: number(value, 'allowedLatenessMs'),
      contents: evictor === null ? aggregatedContents(sum) : evictedContents(evictor, folded(sum), undefined),
      apply: (_key, result) => [result],
    };
    this.engine = this.makeEngine();
  }

  steps(): string[] {
    return (list(this.value, 'steps') as readonly JsonObject[]).flatMap((step, at) => {
      this.fired = [];
      this.late = [];
      this.perform(step.in);
      return [
        ...differs(`step ${at}, fired`, sorted(step.fired), sorted(this.fired)),
        ...this.checkLate(step, at),
        ...differs(`step ${at}, event timers`, step.timersEvent ?? 0, this.timers.eventTimers),
        ...differs(`step ${at}, processing timers`, step.timersProc ?? 0, this.timers.processingTimers),
        ...differs(`step ${at}, state entries`, step.stateEntries, this.entries()),
      ];
    });
  }

  private perform(input: Json | undefined): void {
    if (input === 'snapshot+restore') this.restart();
    else if (isObject(input) && typeof input.watermark === 'number') this.advance(input.watermark);
    else if (isObject(input) && typeof input.processingTime === 'number') this.tick(input.processingTime);
    else if (isObject(input)) {
      this.backend.setCurrentKey(text(input, 'key'));
      this.engine.process(text(input, 'key'), number(input, 'value'), number(input, 'ts'));
    } else throw new Error(`there is no input ${JSON.stringify(input)}`);
  }

  private advance(watermark: number): void {
    this.timers.advanceWatermark(watermark);
    for (let timer = this.timers.nextEventTimer(); timer !== null; timer = this.timers.nextEventTimer()) {
      this.backend.setCurrentKey(timer.key);
      this.engine.onEventTimer(timer);
    }
  }

  private tick(now: number): void {
    this.now = now;
    for (let timer = this.timers.nextProcessingTimer(now); timer !== null; timer = this.timers.nextProcessingTimer(now)) {
      this.backend.setCurrentKey(timer.key);
      this.engine.onProcessingTimer(timer);
    }
  }

  private restart(): void {
    const timers = this.timers.snapshot();
    this.backend = new MemoryKeyedStateBackend(this.backend.snapshot());
    this.timers = this.makeTimers();
    this.timers.restore(timers);
    this.engine = this.makeEngine();
  }

  private makeTimers(): TimerService {
    return new TimerService({ currentKey: () => this.backend.currentKey() }, () => this.now);
  }

  private makeEngine(): WindowEngine<string, number, Sum, Sum> {
    return new WindowEngine(this.definition, new KeyedStates(this.backend, () => this.now), this.timers, {
      result: (key, result, { window }) =>
        this.fired.push({
          key,
          ...result,
          window: window.end === Infinity ? 'global' : [window.start, window.end],
          ts: shownWatermark(maxTimestamp(window)),
        }),
      late: (key, late, ts) => this.late.push({ key, value: late, ts }),
    });
  }

  private checkLate(step: JsonObject, at: number): string[] {
    if (this.value.sideOutputLate === true) return differs(`step ${at}, side output`, step.sideOutput ?? [], this.late);
    return differs(`step ${at}, dropped`, step.droppedLate ?? 0, this.late.length);
  }

  private entries(): number {
    let count = 0;
    for (const [state, rows] of this.backend.snapshot()) {
      if (state !== 'window-revision') for (const namespaces of rows.values()) count += namespaces.size;
    }
    return count;
  }
}

/** Timers of one time fire in no order that Flink promises. */
function sorted(fired: Json | undefined): Json[] {
  return (fired as readonly JsonObject[])
    .map((row) => ({ key: row.key, sum: row.sum, count: row.count, window: row.window, ts: row.ts }))
    .toSorted((a, b) => orderOf(a).localeCompare(orderOf(b)));
}

function orderOf(row: JsonObject): string {
  return `${JSON.stringify(row.ts).padStart(20, '0')}|${JSON.stringify(row)}`;
}
