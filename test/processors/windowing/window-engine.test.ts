import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeyedStates } from '../../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../../src/processors/state/memory-keyed-state-backend.js';
import { valueState } from '../../../src/processors/state/state-descriptor.js';
import { TimerService } from '../../../src/processors/timers/timer-service.js';
import { countTrigger } from '../../../src/processors/windowing/triggers/count-trigger.js';
import { eventTimeTrigger } from '../../../src/processors/windowing/triggers/time-triggers.js';
import { timeoutTrigger } from '../../../src/processors/windowing/triggers/timeout-trigger.js';
import { aggregatedContents, listedContents } from '../../../src/processors/windowing/window-contents.js';
import { WindowEngine, type WindowDefinition } from '../../../src/processors/windowing/window-engine.js';
import { sessionEventTime } from '../../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime } from '../../../src/time/windowing/tumbling-windows.js';
import type { WindowAssigner } from '../../../src/time/windowing/window-assigner.js';

type Entry = readonly [key: string, timestamp: number];

const sum = { initial: () => 0, add: (a: number, b: number) => a + b, result: (a: number) => a, merge: (a: number, b: number) => a + b };

/** Runs one-key-at-a-time records with a watermark of `highest − bound − 1` after each; the results of all windows at the end. */
function run<R>(definition: WindowDefinition<string, number, never, R>, entries: readonly Entry[], bound: number) {
  const backend = new MemoryKeyedStateBackend();
  const timers = new TimerService(backend, () => 0);
  const results: string[] = [];
  let late = 0;
  const engine = new WindowEngine(definition, new KeyedStates(backend, () => 0), timers, {
    result: (key, result, { window }) => void results.push(`${key} ${window.start}-${window.end}: ${String(result)}`),
    late: () => {
      late++;
    },
  });
  const advance = (watermark: number): void => {
    timers.advanceWatermark(watermark);
    for (let timer = timers.nextEventTimer(); timer !== null; timer = timers.nextEventTimer()) {
      backend.setCurrentKey(timer.key);
      engine.onEventTimer(timer);
    }
  };
  let highest = -Infinity;
  for (const [key, timestamp] of entries) {
    backend.setCurrentKey(key);
    engine.process(key, timestamp, timestamp);
    highest = Math.max(highest, timestamp);
    advance(highest - bound - 1);
  }
  advance(Infinity);
  return { results, late, rows: backend.entries, timers: timers.eventTimers };
}

const definition = (assigner: WindowAssigner<number>): WindowDefinition<string, number, never, number> => ({
  assigner,
  trigger: eventTimeTrigger(),
  allowedLateness: 0,
  contents: aggregatedContents(sum) as never,
  apply: (_key, result) => [result],
});

describe('the window engine', () => {
  const assigners = [
    tumblingEventTime({ size: 10, offset: -3 }),
    slidingEventTime({ size: 12, slide: 5 }),
    sessionEventTime<number>({ gap: 4 }),
  ];

  it.each(assigners)('gives the same results for input shuffled within the bound as for sorted input ($name)', (assigner) => {
    const bound = 20;
    // One more than the disorder: a session that ends where another record of its time begins must still be open for it.
    const [sortedBound, shuffledBound] = [1, bound + 1];
    const entry = fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: -50, max: 100 }), fc.nat(bound));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), (drawn) => {
        const sorted = drawn.toSorted((a, b) => a[1] - b[1]).map(([key, time]): Entry => [key, time]);
        const shuffled = drawn.toSorted((a, b) => a[1] + a[2] - (b[1] + b[2])).map(([key, time]): Entry => [key, time]);
        const [first, second] = [run(definition(assigner), sorted, sortedBound), run(definition(assigner), shuffled, shuffledBound)];
        expect(second.results.toSorted()).toEqual(first.results.toSorted());
        expect(second.late).toBe(0);
        expect([second.rows, second.timers]).toEqual([0, 0]);
      }),
    );
  });

  it('keeps one accumulator a window, however many records come', () => {
    const rowsAfter = (records: number): number => {
      const backend = new MemoryKeyedStateBackend();
      const engine = new WindowEngine(
        definition(tumblingEventTime({ size: 1_000 })),
        new KeyedStates(backend, () => 0),
        new TimerService(backend, () => 0),
        { result: () => undefined, late: () => undefined },
      );
      backend.setCurrentKey('a');
      for (let i = 0; i < records; i++) engine.process('a', 1, i % 1_000);
      return backend.entries;
    };
    expect(rowsAfter(10_000)).toBe(rowsAfter(10));
  });

  it('lets the function clear what it kept of the window', () => {
    const seen = valueState<number>('seen');
    const withState: WindowDefinition<string, number, never, number> = {
      ...definition(tumblingEventTime({ size: 10 })),
      contents: listedContents<number>() as never,
      apply: (_key, values: readonly number[], info) => {
        info.windowState(seen).update(values.length);
        return [values.length];
      },
      clear: (_key, info) => info.windowState(seen).clear(),
    };
    expect(
      run(
        withState,
        [
          ['a', 1],
          ['a', 2],
        ],
        0,
      ),
    ).toEqual({ results: ['a 0-10: 2'], late: 0, rows: 0, timers: 0 });
  });

  it('refuses a trigger that can not follow merging windows', () => {
    const faulty = { ...definition(sessionEventTime({ gap: 1 })), trigger: timeoutTrigger(countTrigger(2), { timeout: 5 }) };
    expect(() => run(faulty, [], 0)).toThrow(/can't be used with windows that merge/);
  });
});
