import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `condition` holds, asking again every few milliseconds; says `what` was awaited, and what `describe` tells, when `deadlineMs` is over.
 * What the condition throws ends the wait at once.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
  describe: () => unknown = () => undefined,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > end) {
      const told = describe();
      throw new Error(
        `waited ${deadlineMs / 1000} s in vain for: ${what}${told === undefined ? '' : `\n${typeof told === 'string' ? told : JSON.stringify(told)}`}`,
      );
    }
    await delay(20);
  }
}
