import { delay } from '../kafka/backoff.js';

/** A wait that lasts is told about after so long, ms. */
const toldAfterMs = 10_000;

/**
 * Waits for the commit before tasks are given up, but no longer than the group waits for this member: whoever is to get the tasks stands still meanwhile,
 * and a user function may never return. Resolves with false when the time is over, and then the commit must not count any more.
 *
 * @param longestMs milliseconds
 * @param onWaiting called once, after 10 s or half the time, with the milliseconds waited so far
 */
export async function commitInTime(commit: Promise<void>, longestMs: number, onWaiting: (waitedMs: number) => void): Promise<boolean> {
  const patience = new AbortController();
  const told = Math.min(toldAfterMs, longestMs / 2);
  const tooLong = async (): Promise<boolean> => {
    await delay(told, patience.signal);
    onWaiting(told);
    await delay(longestMs - told, patience.signal);
    return false;
  };
  try {
    return await Promise.race([commit.then(() => true), tooLong()]);
  } finally {
    patience.abort();
  }
}
