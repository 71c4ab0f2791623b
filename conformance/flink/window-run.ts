/** A window engine of one key over state in memory, which can be stopped and restored. */
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import { KeyedStates } from '../../src/processors/state/keyed-states.js';
import type { ValueRow } from '../../src/processors/state/keyed-state-backend.js';
import { MemoryKeyedStateBackend } from '../../src/processors/state/memory-keyed-state-backend.js';
import { TimerService } from '../../src/processors/timers/timer-service.js';
import { eventTimeTrigger } from '../../src/processors/windowing/triggers/time-triggers.js';
import { aggregatedContents, type WindowContents } from '../../src/processors/windowing/window-contents.js';
import { WindowEngine } from '../../src/processors/windowing/window-engine.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';

export class WindowRun<Acc, Out> {
  readonly fired: Out[] = [];
  /** Timestamps of late records. */
  readonly late: number[] = [];
  private backend = new MemoryKeyedStateBackend();
  private timers = this.makeTimers();
  private readonly contents: WindowContents<number, Out>;
  private engine;

  constructor(
    private readonly assigner: WindowAssigner<number>,
    aggregate: AggregateFunction<number, Acc, Out>,
    private readonly allowedLateness = 0,
  ) {
    this.contents = aggregatedContents(aggregate);
    this.engine = this.makeEngine();
  }

  process(value: number, timestamp: number): void {
    this.backend.setCurrentKey('key');
    this.engine.process('key', value, timestamp);
  }

  advance(watermark: number): void {
    this.timers.advanceWatermark(watermark);
    for (let timer = this.timers.nextEventTimer(); timer !== null; timer = this.timers.nextEventTimer()) {
      this.backend.setCurrentKey(timer.key);
      this.engine.onEventTimer(timer);
    }
  }

  restart(): void {
    const timers = this.timers.snapshot();
    this.backend = new MemoryKeyedStateBackend(this.backend.snapshot());
    this.timers = this.makeTimers();
    this.timers.restore(timers);
    this.engine = this.makeEngine();
  }

  /** What the open windows keep. */
  accumulators(): unknown[] {
    const rows = this.backend.snapshot().get('window-contents');
    return [...(rows?.values() ?? [])].flatMap((namespaces) => [...namespaces.values()].map((row) => (row as ValueRow).value));
  }

  private makeTimers(): TimerService {
    return new TimerService({ currentKey: () => this.backend.currentKey() }, () => 0);
  }

  private makeEngine(): WindowEngine<string, number, Out, Out> {
    const { assigner, allowedLateness, contents } = this;
    const definition = { assigner, allowedLateness, contents, trigger: eventTimeTrigger(), apply: (_key: string, result: Out) => [result] };
    return new WindowEngine(definition, new KeyedStates(this.backend, () => 0), this.timers, {
      result: (_key, result) => void this.fired.push(result),
      late: (_key, _value, timestamp) => void this.late.push(timestamp),
    });
  }
}
