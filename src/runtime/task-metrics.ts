import type { DropReason } from '../processors/operator.js';

/** Counters of one task: plain numbers that the record path adds to. */
export class TaskMetrics {
  recordsProcessed = 0;
  readonly dropped = new Map<DropReason, number>();
  deserializationErrors = 0;
  processingErrors = 0;
  productionErrors = 0;
  deadLetters = 0;
  /** Answers `retry` that were followed. */
  retries = 0;
  punctuations = 0;
  /** Records for which an asynchronous operator called its function. */
  asyncCalls = 0;
  /** Further calls for records whose call had failed. */
  asyncRetries = 0;
  /** Calls that were given up because they took too long. */
  asyncTimeouts = 0;
  /** Records whose call has begun and not ended, pauses between two attempts included. */
  asyncCallsInFlight = 0;
  /** Look-ups that found a row in the cache. */
  lookupHits = 0;
  /** Look-ups of which the cache knew that there is no row. */
  lookupMissingHits = 0;
  /** Look-ups that the cache had no answer for. */
  lookupMisses = 0;
  /** Those of them for which it had one that was too old. */
  lookupExpired = 0;
  /** Look-ups that took the answer of another record's call. */
  lookupShared = 0;
  /** Input positions that were no longer in the log and were set anew by `autoOffsetReset`. */
  positionResets = 0;

  /** Times that the local state could not be read, was deleted, and was restored whole. */
  damagedStates = 0;
  /** Writes of committed rows to the local disk that failed; they are tried again. */
  failedStateWrites = 0;

  /** Returns the count so far, so that the first of a kind can be logged. */
  drop(reason: DropReason, records = 1): number {
    const count = (this.dropped.get(reason) ?? 0) + records;
    this.dropped.set(reason, count);
    return count;
  }

  get droppedTotal(): number {
    let total = 0;
    for (const count of this.dropped.values()) total += count;
    return total;
  }
}
