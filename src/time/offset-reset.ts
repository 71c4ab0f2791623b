/** Where a partition begins for which nothing is committed, or whose position is void (KIP-1106). */

/**
 * `earliest`, `latest`, `none` (an error), or so long before now: at the first record whose timestamp is no older than `duration` ms, by the clock of the app's machine when
 * the partition is opened; at the end of the partition when there is no such record.
 *
 * @example
 * { duration: 24 * 3_600_000 }
 */
export type OffsetReset = 'earliest' | 'latest' | 'none' | OffsetResetByDuration;

/** A beginning by time. */
export interface OffsetResetByDuration {
  /** How far back, ms: a whole number, 0 or more. */
  readonly duration: number;
}

/** The same as a moment: a number is a timestamp, ms. */
export type ResetPoint = 'earliest' | 'latest' | 'none' | number;

/** @param now ms since the epoch. What began before 1970 begins at the first record. */
export function resetPoint(policy: OffsetReset, now: number): ResetPoint {
  return typeof policy === 'string' ? policy : Math.max(0, now - policy.duration);
}

/** What is wrong with a value given for it, as the checks of options say it; null when nothing is. */
export function offsetResetOption(value: unknown): string | null {
  if (value === 'earliest' || value === 'latest' || value === 'none') return null;
  return isDuration(value) ? null : '"earliest", "latest", "none" or { duration: whole milliseconds, 0 or more }';
}

/** Equal for policies that are. */
export function offsetResetLabel(policy: OffsetReset): string {
  return typeof policy === 'string' ? policy : `duration ${policy.duration}`;
}

function isDuration(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { duration, ...others } = value as { readonly duration?: unknown };
  return Number.isSafeInteger(duration) && (duration as number) >= 0 && Object.keys(others).length === 0;
}
