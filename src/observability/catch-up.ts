import { MillraceError } from '../errors.js';

/**
 * How long it takes until a backlog is worked off, while more comes in: `backlog / (processed − arriving)`. The same sum tells when a buffer is full: its room, with the two rates the
 * other way round.
 *
 * @param backlog records that wait, as `lag` in the metrics
 * @param arriving records a second that come
 * @param processed records a second that can be processed
 * @returns seconds; 0 without a backlog, Infinity when it does not shrink
 * @throws MILL_CONFIG_INVALID unless all are numbers of at least 0
 * @example catchUpSeconds(6_000_000, 100_000, 150_000); // 120
 */
export function catchUpSeconds(backlog: number, arriving: number, processed: number): number {
  for (const [name, given] of Object.entries({ backlog, arriving, processed })) {
    if (typeof given === 'number' && given >= 0) continue;
    throw new MillraceError('MILL_CONFIG_INVALID', `catchUpSeconds: ${name} must be a number of at least 0, not ${String(given)}.`);
  }
  if (backlog === 0) return 0;
  return processed > arriving ? backlog / (processed - arriving) : Infinity;
}
