import { describe, expect, it } from '@jest/globals';
import { TimeShares } from '../../src/observability/time-shares.js';

describe('what a thread does with its time', () => {
  it('is work, but for the waits', () => {
    const shares = new TimeShares(0);
    shares.waited('idle', 500, 600);
    shares.waited('backPressured', 250, 1_000);
    expect(shares.snapshot(1_000)).toEqual({ busyTimeMsPerSecond: 250, backPressuredTimeMsPerSecond: 250, idleTimeMsPerSecond: 500 });
  });

  it('is of the last seconds only', () => {
    const shares = new TimeShares(0);
    for (let now = 1_000; now <= 20_000; now += 1_000) shares.waited('idle', 1_000, now);
    expect(shares.snapshot(20_000).idleTimeMsPerSecond).toBe(1_000);
    for (let now = 21_000; now <= 40_000; now += 1_000) shares.waited('backPressured', 400, now);
    expect(shares.snapshot(40_000)).toEqual({ busyTimeMsPerSecond: 600, backPressuredTimeMsPerSecond: 400, idleTimeMsPerSecond: 0 });
  });

  it('has no share above the whole', () => {
    const shares = new TimeShares(0);
    shares.waited('idle', 30_000, 30_000);
    expect(shares.snapshot(30_000).idleTimeMsPerSecond).toBe(1_000);
  });
});
