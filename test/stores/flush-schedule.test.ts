import { describe, expect, it } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import { FlushSchedule } from '../../src/stores/flush-schedule.js';
import type { StoreKind } from '../../src/stores/store.js';

const mebibyte = 1024 * 1024;
const roomy = { pinned: 10, limit: 100 };

/** The first moment at which a write begins, looked for every 100 ms; the last one began at 0. */
function writtenAfter(
  options: {
    readonly kinds?: readonly StoreKind[];
    readonly budget?: typeof roomy | null;
    readonly dueBytes?: number;
    readonly fullness?: number;
  } = {},
): number {
  const { kinds = ['keyValue', 'timestampedWindow'], budget = roomy, dueBytes = 1, fullness = 0 } = options;
  const schedule = new FlushSchedule(1000, kinds, budget, 0);
  for (let now = 0; now < 60_000; now += 100) if (schedule.begins(now, dueBytes, fullness)) return now;
  return Infinity;
}

describe('committed rows', () => {
  it('that change again and again are written every four seconds: several changes are one write', () => {
    expect(writtenAfter()).toBe(4000);
  });

  it('are written each second when they take the room of others', () => {
    expect(writtenAfter({ budget: { pinned: 51, limit: 100 } })).toBe(1000);
    expect(writtenAfter({ budget: { pinned: 1, limit: 0 } })).toBe(1000);
    expect(writtenAfter({ fullness: 0.6 })).toBe(1000);
  });

  it('that come and go are written each second, with those beside them', () => {
    expect(writtenAfter({ kinds: ['keyValue', 'session'] })).toBe(1000);
    expect(writtenAfter({ kinds: ['joinWindow'] })).toBe(1000);
  });

  it('of stores in memory alone are let go each second', () => {
    expect(writtenAfter({ budget: null })).toBe(1000);
  });

  it('are written at once when much waits, or no more may', () => {
    expect(writtenAfter({ dueBytes: 16 * mebibyte })).toBe(0);
    expect(writtenAfter({ fullness: 1.1 })).toBe(0);
  });

  it('are tried again a second after a failure, one write at a time, until nothing more may wait', () => {
    const schedule = new FlushSchedule(1000, ['keyValue'], roomy, 0);
    expect(schedule.begins(4000, 1, 0)).toBe(true);
    schedule.started();
    expect(schedule.begins(9000, 1, 0)).toBe(false);
    schedule.ended(new MillraceError('MILL_STORE_IO', 'no space left'));
    expect(schedule.begins(4999, 1, 0)).toBe(false);
    expect(schedule.begins(5000, 1, 0)).toBe(true);
    expect(() => schedule.begins(5100, 1, 1.1)).toThrow('no space left');
    schedule.ended(null);
    expect(schedule.begins(8000, 1, 0)).toBe(false);
    expect(schedule.begins(9000, 1, 0)).toBe(true);
  });

  it('are not held back by a clock that was set back', () => {
    const schedule = new FlushSchedule(1000, ['keyValue'], roomy, 50_000);
    expect(schedule.begins(40_000, 1, 0)).toBe(true);
  });
});
