import { describe, expect, it } from '@jest/globals';
import { TimeShares } from '../../src/observability/time-shares.js';

describe('what a thread does with its time', () => {
  it('is work, but for the waits', () => {
    const shares = new TimeShares(0);
    shares.spent('idle', 500, 600);
    shares.spent('backPressured', 250, 1_000);
    expect(shares.snapshot(1_000)).toEqual({ busyTimeMsPerSecond: 250, backPressuredTimeMsPerSecond: 250, idleTimeMsPerSecond: 500 });
  });

  it('is of the last seconds only', () => {
    const shares = new TimeShares(0);
    for (let now = 1_000; now <= 20_000; now += 1_000) shares.spent('idle', 1_000, now);
    expect(shares.snapshot(20_000).idleTimeMsPerSecond).toBe(1_000);
    for (let now = 21_000; now <= 40_000; now += 1_000) shares.spent('backPressured', 400, now);
    expect(shares.snapshot(40_000)).toEqual({ busyTimeMsPerSecond: 600, backPressuredTimeMsPerSecond: 400, idleTimeMsPerSecond: 0 });
  });

  it('has no share above the whole', () => {
    const shares = new TimeShares(0);
    shares.spent('idle', 30_000, 30_000);
    expect(shares.snapshot(30_000).idleTimeMsPerSecond).toBe(1_000);
  });
});

describe('what a task does with its time', () => {
  it('is idle, but for its work and what holds it up', () => {
    const shares = new TimeShares(0, 'idle');
    shares.spent('busy', 100, 600);
    shares.spent('backPressured', 250, 1_000);
    expect(shares.snapshot(1_000)).toEqual({ busyTimeMsPerSecond: 100, backPressuredTimeMsPerSecond: 250, idleTimeMsPerSecond: 650 });
  });

  it('is of the last seconds also after a long time without any', () => {
    const shares = new TimeShares(0, 'idle');
    shares.spent('busy', 4_000, 4_000);
    for (let now = 600_500; now <= 603_000; now += 500) shares.spent('busy', 500, now);
    expect(shares.snapshot(603_000).busyTimeMsPerSecond).toBeGreaterThan(350);
    for (let now = 603_500; now <= 611_000; now += 500) shares.spent('busy', 500, now);
    expect(shares.snapshot(611_000).busyTimeMsPerSecond).toBe(1_000);
    shares.begin('busy', 611_000);
    shares.end(700_000);
    expect(shares.snapshot(700_000).busyTimeMsPerSecond).toBe(1_000);
  });

  it('is seen while it lasts: a function that is awaited for long is work already', () => {
    const shares = new TimeShares(0, 'idle');
    shares.begin('busy', 500);
    expect(shares.snapshot(1_000).busyTimeMsPerSecond).toBe(500);
    for (let now = 2_000; now <= 30_000; now += 1_000) shares.snapshot(now);
    expect(shares.snapshot(30_000)).toEqual({ busyTimeMsPerSecond: 1_000, backPressuredTimeMsPerSecond: 0, idleTimeMsPerSecond: 0 });
    shares.end(30_000);
    for (let now = 31_000; now <= 50_000; now += 1_000) shares.snapshot(now);
    expect(shares.snapshot(50_000).idleTimeMsPerSecond).toBe(1_000);
  });
});
