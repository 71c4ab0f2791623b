/**
 * How a stream thread spends its time: at work, waiting for an epoch that is not committed yet although there is more to do, or waiting for records. Two numbers a
 * wait are all that it costs; what is not waited is work. Averages reach back five to ten seconds.
 */
export type WaitKind = 'idle' | 'backPressured';

/** Milliseconds of each second; they add up to 1000. */
export interface ThreadMetricsSnapshot {
  readonly busyTimeMsPerSecond: number;
  readonly backPressuredTimeMsPerSecond: number;
  readonly idleTimeMsPerSecond: number;
}

const spanMs = 5_000;

interface Span {
  readonly start: number;
  idle: number;
  backPressured: number;
}

export class TimeShares {
  private current: Span;
  private before: Span;

  /** @param now ms of a clock that never goes back */
  constructor(now: number) {
    this.current = this.before = { start: now, idle: 0, backPressured: 0 };
  }

  waited(kind: WaitKind, ms: number, now: number): void {
    this.current[kind] += ms;
    this.roll(now);
  }

  snapshot(now: number): ThreadMetricsSnapshot {
    this.roll(now);
    const { before, current } = this;
    const elapsed = Math.max(1, now - before.start);
    const share = (kind: WaitKind): number => {
      const waited = before === current ? current[kind] : before[kind] + current[kind];
      return Math.min(1_000, Math.round((waited / elapsed) * 1_000));
    };
    const [idle, backPressured] = [share('idle'), share('backPressured')];
    const busy = Math.max(0, 1_000 - idle - backPressured);
    return { busyTimeMsPerSecond: busy, backPressuredTimeMsPerSecond: backPressured, idleTimeMsPerSecond: idle };
  }

  private roll(now: number): void {
    if (now - this.current.start < spanMs) return;
    this.before = this.current;
    this.current = { start: now, idle: 0, backPressured: 0 };
  }
}
