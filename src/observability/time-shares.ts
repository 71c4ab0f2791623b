/**
 * How a stream thread, or one of its tasks, spends its time: at work, held up although there is more to do, or waiting for records. Two of the three are noted as they end, what is left is the
 * third: a thread notes its waits and works otherwise, a task notes its work and what holds it up and is idle otherwise. Averages reach back five to ten seconds.
 */
export type TimeUse = 'busy' | 'backPressured' | 'idle';

/** Of a stream thread or a task: milliseconds of each second; they add up to 1000. */
export interface TimeSharesSnapshot {
  readonly busyTimeMsPerSecond: number;
  readonly backPressuredTimeMsPerSecond: number;
  readonly idleTimeMsPerSecond: number;
}

const spanMs = 5_000;
const longMs = 2 * spanMs;

interface Span {
  readonly start: number;
  readonly spent: Record<TimeUse, number>;
}

export class TimeShares {
  private current: Span;
  private before: Span;
  private ongoing: { readonly use: TimeUse; since: number } | null = null;

  /**
   * @param now ms of a clock that never goes back
   * @param rest what time is that nobody notes
   */
  constructor(
    now: number,
    private readonly rest: TimeUse = 'busy',
  ) {
    this.current = this.before = { start: now, spent: { busy: 0, backPressured: 0, idle: 0 } };
  }

  spent(use: TimeUse, ms: number, now: number): void {
    // After a long time without any, this is no part of that time.
    if (now - ms - this.current.start >= longMs) this.roll(now - ms);
    this.current.spent[use] += ms;
    this.roll(now);
  }

  /** Something has begun that takes its time, from `now` on. */
  begin(use: TimeUse, now: number): void {
    this.end(now);
    this.ongoing = { use, since: now };
  }

  /** What was begun has ended, if anything was. */
  end(now: number): void {
    this.noteOngoing(now);
    this.ongoing = null;
  }

  snapshot(now: number): TimeSharesSnapshot {
    this.noteOngoing(now);
    this.roll(now);
    const shares = { busy: 0, backPressured: 0, idle: 0 };
    let left = 1_000;
    for (const use of ['idle', 'backPressured', 'busy'] as const) {
      if (use === this.rest) continue;
      shares[use] = Math.min(left, this.share(use, now));
      left -= shares[use];
    }
    shares[this.rest] = left;
    return {
      busyTimeMsPerSecond: shares.busy,
      backPressuredTimeMsPerSecond: shares.backPressured,
      idleTimeMsPerSecond: shares.idle,
    };
  }

  private share(use: TimeUse, now: number): number {
    const { before, current } = this;
    const spent = before === current ? current.spent[use] : before.spent[use] + current.spent[use];
    return Math.round((spent / Math.max(1, now - before.start)) * 1_000);
  }

  private noteOngoing(now: number): void {
    const { ongoing } = this;
    if (ongoing === null) return;
    this.current.spent[ongoing.use] += now - ongoing.since;
    ongoing.since = now;
  }

  private roll(now: number): void {
    const { start, spent } = this.current;
    const length = now - start;
    if (length < spanMs) return;
    // Nobody has noted or asked for long: the last seconds are as all of that time.
    this.before = length < longMs ? this.current : { start: now - spanMs, spent: scaled(spent, spanMs / length) };
    this.current = { start: now, spent: { busy: 0, backPressured: 0, idle: 0 } };
  }
}

function scaled(spent: Readonly<Record<TimeUse, number>>, by: number): Record<TimeUse, number> {
  return { busy: spent.busy * by, backPressured: spent.backPressured * by, idle: spent.idle * by };
}
