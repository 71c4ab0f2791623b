/**
 * When committed rows are written to the engine: once a second; where that saves writes, after up to four seconds, as long as nobody needs the memory in which they wait; sooner
 * when much waits, and again after a failure until nothing more may wait.
 */
import { MillraceError } from '../errors.js';
import type { CacheBudget } from './cache-budget.js';
import type { StoreKind } from './store.js';

/** Kinds whose rows are changed again and again: several changes are one write. Rows of the others come and go, and take memory until they are written. */
const changing: ReadonlySet<StoreKind> = new Set(['keyValue', 'timestampedKeyValue', 'window', 'timestampedWindow']);
/** With such rows alone, and room, a write comes after so many intervals. */
const patience = 4;

/** Due bytes that start an engine write before its time. */
const flushEarlyBytes = 16 * 1024 * 1024;
/** Due bytes past which a failing engine write is no longer put off. */
const flushGiveUpBytes = 128 * 1024 * 1024;

export class FlushSchedule {
  private last: number;
  private running = false;
  private failure: Error | null = null;

  private readonly longestMs: number;

  constructor(
    private readonly intervalMs: number,
    kinds: readonly StoreKind[],
    /** Where rows wait; null: nothing is written, and layers of rows that are in memory anyway end soon. */
    private readonly budget: Pick<CacheBudget, 'pinned' | 'limit'> | null,
    now: number,
  ) {
    this.longestMs = kinds.every((kind) => changing.has(kind)) ? patience * intervalMs : intervalMs;
    this.last = now;
  }

  /**
   * Whether to begin a write now; one that is begun has to be told of by `ended`. Throws what the last write failed with when it can't be put off any longer.
   *
   * @param fullness what waits over all tasks, of what may wait; past 1 no more may
   */
  begins(now: number, dueBytes: number, fullness: number): boolean {
    const isFull = fullness > 1;
    if (this.failure !== null && (isFull || isDamage(this.failure) || dueBytes > flushGiveUpBytes)) throw this.failure;
    if (this.running) return false;
    // A clock that was set back must not hold rows in memory until it is there again.
    const { budget } = this;
    const hasRoom = budget !== null && this.failure === null && fullness <= 0.5 && budget.pinned <= budget.limit / 2;
    const isTime = now - this.last >= (hasRoom ? this.longestMs : this.intervalMs) || now < this.last;
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
