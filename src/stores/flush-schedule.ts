/** When committed rows are written to the engine: about once a second, sooner when much waits, and again after a failure until nothing more may wait. */

import { MillraceError } from '../errors.js';

/** Due bytes that start an engine write before its time. */
const flushEarlyBytes = 16 * 1024 * 1024;
/** Due bytes past which a failing engine write is no longer put off. */
const flushGiveUpBytes = 128 * 1024 * 1024;

export class FlushSchedule {
  private last: number;
  private running = false;
  private failure: Error | null = null;

  constructor(
    private readonly intervalMs: number,
    now: number,
  ) {
    this.last = now;
  }

  /**
   * Whether to begin a write now; one that is begun has to be told of by `ended`. Throws what the last write failed with when it can't be put off any longer.
   *
   * @param isFull no more may wait, over all tasks
   */
  begins(now: number, dueBytes: number, isFull: boolean): boolean {
    if (this.failure !== null && (isFull || isDamage(this.failure) || dueBytes > flushGiveUpBytes)) throw this.failure;
    if (this.running) return false;
    // A clock that was set back must not hold rows in memory until it is there again.
    const isTime = now - this.last >= this.intervalMs || now < this.last;
    if (!isTime && ((dueBytes < flushEarlyBytes && !isFull) || this.failure !== null)) return false;
    this.last = now;
    return true;
  }

  started(): void {
    this.running = true;
  }

  ended(failure: Error | null): void {
    this.running = false;
    this.failure = failure;
  }
}

/** The engine is of no further use: the next open makes it anew. */
export function isDamage(failure: Error): boolean {
  return failure instanceof MillraceError && failure.code === 'MILL_STORE_CORRUPTED';
}
