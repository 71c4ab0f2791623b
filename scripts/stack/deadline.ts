import { setTimeout as delay } from 'node:timers/promises';

/**
 * Tries `condition` until it holds. Throws what it threw last, under the name of what was awaited, when `deadlineMs` is over;
 * `check` runs before each try and may throw to end the wait at once.
 */
export async function until(
  what: string,
  deadlineMs: number,
  condition: () => Promise<boolean>,
  check: () => void = () => undefined,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  let cause: unknown;
  while (Date.now() < end) {
    check();
    try {
      if (await condition()) return;
    } catch (error) {
      cause = error;
    }
    await delay(100);
  }
  throw new Error(`${what} within ${deadlineMs / 1000} s`, { cause });
}
