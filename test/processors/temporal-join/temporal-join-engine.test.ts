/** The temporal join against what Flink 2.2 gives for `FOR SYSTEM_TIME AS OF` an event time. A late probe row is dropped and counted (FLINK-39719); a delete has the time of its own record. */
import { describe, expect, it } from '@jest/globals';
import { TemporalJoinEngine, temporalJoinStates } from '../../../src/processors/temporal-join/temporal-join-engine.js';
import { KeyedStates } from '../../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../../src/processors/state/memory-keyed-state-backend.js';
import { TimerService } from '../../../src/processors/timers/timer-service.js';

/** `O` a row to join, `X` a version (null: deleted), `W` the watermark. */
type Step = readonly ['O', string, number, number] | readonly ['X', string, number | null, number] | readonly ['W', number];

function run(steps: readonly Step[]) {
  const backend = new MemoryKeyedStateBackend();
  const states = new KeyedStates(backend, () => 0);
  const timers = new TimerService(backend, () => 0);
  const out: unknown[] = [];
  const late: unknown[] = [];
  const descriptors = temporalJoinStates<number, number>();
  const engine = new TemporalJoinEngine<number, number>(descriptors, states, timers, {
    joined: (left, right) => out.push([backend.currentKey(), left, right]),
    late: (side, value, timestamp) => late.push([side, value, timestamp]),
  });
  for (const step of steps) {
    if (step[0] === 'W') {
      timers.advanceWatermark(step[1]);
      for (let timer = timers.nextEventTimer(); timer !== null; timer = timers.nextEventTimer()) {
        backend.setCurrentKey(timer.key);
        engine.onEventTimer(timer);
      }
    } else {
      backend.setCurrentKey(step[1]);
      if (step[0] === 'O') engine.processLeft(step[2], step[3]);
      else engine.processRight(step[2], step[3]);
    }
  }
  const [current, versions] = [states.state(descriptors.current), states.state(descriptors.versions)];
  const versionsOf = (key: string): number[] => {
    backend.setCurrentKey(key);
    return [current.value()?.since ?? [], versions.keys()].flat();
  };
  return { out, late, timers: timers.eventTimers, versionsOf };
}

describe('the temporal join', () => {
  it('meets the latest version at or before the row, once the watermark is there (temporal-event-time-inner, -left)', () => {
    const { out, timers } = run([
      ['X', 'USD', 100, 1000],
      ['X', 'USD', 110, 5000],
      ['O', 'USD', 1, 500],
      ['O', 'USD', 2, 1000],
      ['O', 'USD', 3, 4999],
      ['O', 'USD', 4, 5000],
      ['O', 'EUR', 9, 5000],
      ['W', 4999],
      ['W', 6000],
    ]);
    expect(out).toEqual([
      ['USD', 1, null],
      ['USD', 2, 100],
      ['USD', 3, 100],
      ['EUR', 9, null],
      ['USD', 4, 110],
    ]);
    expect(timers).toBe(0);
  });

  it('a delete ends a version at its own time (temporal-event-time-delete-has-own-time)', () => {
    const { out } = run([
      ['X', 'USD', 110, 5000],
      ['O', 'USD', 2, 5000],
      ['X', 'USD', null, 8000],
      ['O', 'USD', 3, 7999],
      ['O', 'USD', 4, 8000],
      ['W', 9000],
    ]);
    expect(out).toEqual([
      ['USD', 2, 110],
      ['USD', 3, 110],
      ['USD', 4, null],
    ]);
  });

  it('a version that comes late holds for the rows to come; a row that comes late is late (temporal-late-build-row-still-used)', () => {
    const { out, late } = run([
      ['X', 'USD', 100, 1000],
      ['W', 5000],
      ['X', 'USD', 90, 3000],
      ['O', 'USD', 1, 6000],
      ['W', 6000],
      ['O', 'USD', 2, 2000],
      ['O', 'USD', 3, 6000],
      ['W', 7000],
    ]);
    expect(out).toEqual([['USD', 1, 90]]);
    expect(late).toEqual([
      ['left', 2, 2000],
      ['left', 3, 6000],
    ]);
  });

  it('a late version that is older than the one in effect means nothing any more', () => {
    const { out, late } = run([
      ['X', 'USD', null, 4000],
      ['W', 5000],
      ['X', 'USD', 90, 3000],
      ['O', 'USD', 1, 6000],
      ['W', 6000],
    ]);
    expect(late).toEqual([['right', 90, 3000]]);
    expect(out).toEqual([['USD', 1, null]]);
  });

  it('the last version is kept however old it is, and none before it (temporal-old-version-kept-for-future-rows)', () => {
    const { out, versionsOf } = run([
      ['X', 'USD', 90, 500],
      ['X', 'USD', 100, 1000],
      ['W', 3_600_000],
      ['O', 'USD', 1, 3_700_000],
      ['W', 3_700_000],
    ]);
    expect(out).toEqual([['USD', 1, 100]]);
    expect(versionsOf('USD')).toEqual([1000]);
  });

  it('a watermark that passes many versions of a key at once does not search them for each', () => {
    const versions = Array.from({ length: 50_000 }, (_, time): Step => ['X', 'USD', time, time]);
    const { out, versionsOf } = run([...versions, ['O', 'USD', 1, 49_000], ['W', 60_000]]);
    expect(out).toEqual([['USD', 1, 49_000]]);
    expect(versionsOf('USD')).toEqual([49_999]);
  });
});
