import { MillraceError } from '../../errors.js';

export function requireWindows(assigner: string, rule: string, holds: boolean): void {
  if (!holds) throw new MillraceError('MILL_CONFIG_INVALID', `${assigner} windows must satisfy ${rule} (milliseconds).`);
}

/** Parts of a millisecond are in no timestamp, and what is no number makes windows that nothing falls into. */
export function areMilliseconds(...spans: readonly unknown[]): boolean {
  return spans.every((span) => Number.isSafeInteger(span));
}

export function requireTimestamp(assigner: string, timestamp: number): void {
  if (Number.isFinite(timestamp)) return;
  throw new MillraceError('MILL_INVALID_TIMESTAMP', `${assigner} windows got a record without a timestamp.`);
}
