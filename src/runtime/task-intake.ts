/**
 * When a task took its last record, and how old that record was. Noted once a slice, of the slice's last record, so that records cost nothing; what is measured against now is worked out when somebody
 * asks.
 */
export interface IntakeSnapshot {
  /** Since the last record was taken, ms; before the first since the task was opened here. */
  readonly sourceIdleTime: number;
  /** The wall clock when the last record was taken minus its timestamp, ms; null before the first. */
  readonly currentEmitEventTimeLag: number | null;
}

export class TaskIntake {
  private lastAt: number;
  private lag: number | null = null;

  /**
   * @param clock ms of a clock that is never set
   * @param wallClock ms since the epoch
   */
  constructor(
    private readonly clock: () => number,
    private readonly wallClock: () => number,
  ) {
    this.lastAt = clock();
  }

  /** @param timestamp of the record that was taken last, ms since the epoch */
  took(timestamp: number): void {
    this.lastAt = this.clock();
    this.lag = this.wallClock() - timestamp;
  }

  /** A record was taken that has no time. */
  dropped(): void {
    this.lastAt = this.clock();
  }

  snapshot(): IntakeSnapshot {
    return { sourceIdleTime: Math.max(0, this.clock() - this.lastAt), currentEmitEventTimeLag: this.lag };
  }
}
