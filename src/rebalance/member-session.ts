/**
 * When a member last proved to be alive, and its heartbeat under way: the member's own view of the session that the broker keeps.
 *
 * Pessimistic on purpose: an answer proves that the member was alive when it *sent* the request, not when the answer was read, since the event loop
 * may have been blocked in between. So `doubtful` is true at the latest when the broker may have dropped the member.
 */
/** While a follow-up rebalance is known to come. An owner that takes longer to give its tasks up is waited for at the usual pace. */
const quickMs = 250;
const quickForMs = 30_000;

export class MemberSession {
  private aliveAt = 0;
  private dueAt = 0;
  private quickUntil = 0;
  /** Since when a follow-up rebalance has been waited for; null: none is. */
  private awaitingSince: number | null = null;
  private underWay: { readonly attempt: number; readonly sentAt: number } | null = null;

  constructor(
    private readonly timeoutMs: number,
    private readonly heartbeatIntervalMs: number,
    /** What an owner may take to give tasks up, ms. */
    private readonly rebalanceTimeoutMs: number,
  ) {}

  doubtful(now: number): boolean {
    return now - this.aliveAt > this.timeoutMs;
  }

  /** Nothing is owned that a lapse could endanger: the clock starts anew. */
  restart(now: number): void {
    this.aliveAt = now;
    this.dueAt = now + this.heartbeatIntervalMs;
    this.underWay = null;
  }

  /** The broker has (or keeps) the member in a parked or answered join or sync. In doubt it stays so until a heartbeat is answered. */
  refresh(now: number): void {
    if (this.doubtful(now)) {
      this.dueAt = now;
      return;
    }
    this.aliveAt = now;
    this.dueAt = now + this.heartbeatIntervalMs;
  }

  sent(attempt: number, now: number): void {
    this.underWay = { attempt, sentAt: now };
    this.dueAt = now + (now < this.quickUntil ? this.quickIntervalMs : this.heartbeatIntervalMs);
  }

  /** The tasks that move run nowhere until every member has heard of the follow-up rebalance, so heartbeats ask for it often. */
  awaitRebalance(now: number): void {
    this.quickUntil = now + quickForMs;
    this.awaitingSince = now;
    this.dueAt = Math.min(this.dueAt, now + this.quickIntervalMs);
  }

  awaitNothing(): void {
    this.quickUntil = 0;
    this.awaitingSince = null;
  }

  /**
   * No owner takes so long. Somebody is said to run what it does not, by a join of an earlier process that arrived late, say: nobody gives it up, and nobody else asks. True once
   * in so much time.
   */
  awaitsInVain(now: number): boolean {
    if (this.awaitingSince === null || now - this.awaitingSince <= 2 * this.rebalanceTimeoutMs) return false;
    this.awaitingSince = now;
    return true;
  }

  get isIdle(): boolean {
    return this.underWay === null;
  }

  isUnderWay(attempt: number): boolean {
    return this.underWay?.attempt === attempt;
  }

  /** The heartbeat under way was answered by a coordinator that knows the member, or not. */
  answered(known: boolean): void {
    if (known && this.underWay !== null) this.aliveAt = Math.max(this.aliveAt, this.underWay.sentAt);
    this.underWay = null;
  }

  forgetHeartbeat(): void {
    this.underWay = null;
  }

  heartbeatDue(now: number): boolean {
    return this.underWay === null && now >= this.dueAt;
  }

  /** A heartbeat older than the session is worth no more than one that failed. */
  heartbeatHangs(now: number): boolean {
    return this.underWay !== null && now - this.underWay.sentAt > this.timeoutMs;
  }

  /** When to look again: the next heartbeat, or the end of the patience with the one under way. */
  nextAt(): number {
    return this.underWay === null ? this.dueAt : this.underWay.sentAt + this.timeoutMs + 1;
  }

  private get quickIntervalMs(): number {
    return Math.min(quickMs, this.heartbeatIntervalMs);
  }
}
