/**
 * When a quiet partition stops holding the others back.
 *
 * The clock starts at the first probe that sees no record since the probe before, and the partition is idle when *more* than the timeout has passed.
 * The clock stands while there is still something to read: a partition that is paused, back-pressured or behind is slow, not idle, and calling it idle
 * would make its records late.
 */
export class IdlenessClock {
  private active = false;
  private quietSince: number | null = null;

  /** @param timeout ms */
  constructor(private readonly timeout: number) {}

  activity(): void {
    this.active = true;
  }

  /**
   * @param now ms of the wall clock
   * @param atEnd true when the partition is read to its end and is neither paused nor waiting
   */
  probe(now: number, atEnd = true): boolean {
    if (this.active || !atEnd) {
      this.active = false;
      this.quietSince = null;
      return false;
    }
    this.quietSince ??= now;
    return now - this.quietSince > this.timeout;
  }

  /** Since when the partition has been quiet, ms of the wall clock; null when it is not. */
  get since(): number | null {
    return this.quietSince;
  }
}
