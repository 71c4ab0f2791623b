/** Pauses between attempts of a producer's request. */

/** When something in the cluster has to change first (a leader, a coordinator): for `backoffMs`. */
export const retryPause = { initialMs: 10, maxMs: 1000 };

/** CONCURRENT_TRANSACTIONS: the markers of the previous transaction are on their way. 2, 4, 8 … 50 ms; `attempt` counts from 1. */
export function concurrentPauseMs(attempt: number): number {
  return Math.min(50, 2 ** Math.min(attempt, 6));
}
