/**
 * The requests of a group member: the one under way, the pause before the next attempt, and how long the group has been waited for. At most one of findCoordinator, join,
 * assign, sync and leave is under way; an answer that is not the one waited for has been overtaken.
 */
import { backoffMs } from '../kafka/backoff.js';
import type { GroupRequest } from './group-protocol.js';

const retryBackoff = { initialMs: 100, maxMs: 1000 };
const waitingLogIntervalMs = 5000;

export class GroupRequests {
  private attempts = 0;
  private underWay: { readonly request: GroupRequest | 'assign'; readonly attempt: number } | null = null;
  private failures = 0;
  /** When to try again; null: no pause. */
  retryAt: number | null = null;
  private waitingSince: number | null = null;
  /** When to tell the log that the group is waited for still. */
  nextWaitingLogAt = 0;

  /** In [0, 1): jitter of the pauses. */
  constructor(private readonly random: () => number) {}

  get pending(): GroupRequest | 'assign' | null {
    return this.underWay?.request ?? null;
  }

  /** A number for a request beside these: heartbeats have their own book. */
  next(): number {
    return ++this.attempts;
  }

  begin(request: GroupRequest | 'assign'): number {
    this.underWay = { request, attempt: this.next() };
    return this.underWay.attempt;
  }

  /** The request under way when `attempt` is it, which it then no longer is; else null. */
  settle(attempt: number): GroupRequest | 'assign' | null {
    if (this.underWay?.attempt !== attempt) return null;
    const { request } = this.underWay;
    this.underWay = null;
    return request;
  }

  /** Its answer no longer matters. */
  forget(): void {
    this.underWay = null;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** Returns the pause, ms. */
  retryLater(now: number): number {
    const inMs = Math.round(backoffMs(++this.failures, retryBackoff, this.random));
    this.retryAt = now + inMs;
    return inMs;
  }

  /** True once when the pause is over. */
  retryDue(now: number): boolean {
    if (this.retryAt === null || now < this.retryAt) return false;
    this.retryAt = null;
    return true;
  }

  waits(isWaiting: boolean, now: number): void {
    if (!isWaiting) this.waitingSince = null;
    else if (this.waitingSince === null) {
      this.waitingSince = now;
      this.nextWaitingLogAt = now + waitingLogIntervalMs;
    }
  }

  /** How long the group has been waited for, when it is time to say so; else null. */
  waitedLong(now: number): number | null {
    if (this.waitingSince === null || now < this.nextWaitingLogAt) return null;
    this.nextWaitingLogAt = now + waitingLogIntervalMs;
    return now - this.waitingSince;
  }
}
