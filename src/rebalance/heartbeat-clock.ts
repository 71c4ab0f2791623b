/** When the heartbeats of a streams group's member are due, and what the last ones proved. */

/** Until the broker says how often it wants to hear, ms. */
const firstIntervalMs = 5000;
const quickMs = 500;
/** Answers that are missing for so many intervals are reason to ask, or to give the connection up. */
const patience = 3;

export class HeartbeatClock {
  /** Heartbeats sent, and answered. */
  count = 0;
  private intervalMs = firstIntervalMs;
  private aliveAt = 0;
  private dueAt = 0;
  private quickUntil = 0;
  private underWay: { readonly attempt: number; readonly sentAt: number } | null = null;

  get isIdle(): boolean {
    return this.underWay === null;
  }

  isUnderWay(attempt: number): boolean {
    return this.underWay?.attempt === attempt;
  }

  interval(ms: number): void {
    if (ms > 0) this.intervalMs = ms;
  }

  sent(attempt: number, now: number): void {
    this.count++;
    this.underWay = { attempt, sentAt: now };
    this.dueAt = now + (now < this.quickUntil ? Math.min(quickMs, this.intervalMs) : this.intervalMs);
  }

  answered(known: boolean): void {
    this.count++;
    // An answer proves that the member was alive when it sent the heartbeat.
    if (known && this.underWay !== null) this.aliveAt = this.underWay.sentAt;
    this.underWay = null;
  }

  /** The group is on the move: for a while heartbeats follow each other closely. */
  quickFrom(now: number): void {
    this.quickUntil = now + 2 * this.intervalMs;
    this.dueAt = Math.min(this.dueAt, now + quickMs);
  }

  hurry(now: number): void {
    this.dueAt = now;
  }

  due(now: number): boolean {
    return this.underWay === null && now >= this.dueAt;
  }

  hangs(now: number): boolean {
    return this.underWay !== null && now - this.underWay.sentAt > patience * this.intervalMs;
  }

  doubtful(now: number): boolean {
    return now - this.aliveAt > patience * this.intervalMs;
  }

  nextAt(): number {
    return this.underWay === null ? this.dueAt : this.underWay.sentAt + patience * this.intervalMs + 1;
  }
}
