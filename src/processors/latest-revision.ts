import { isDeepStrictEqual } from 'node:util';
import { MillraceError } from '../errors.js';

/** A result that may come again, corrected: what a window's `apply` makes of `info.revision`. */
export interface Revised {
  readonly revision: number;
}

/**
 * Keeps the result of the highest revision, in whatever order they come: a reducer for tables of window results, and the rule for sinks that write them elsewhere. The same revision again
 * is a repetition and changes nothing.
 *
 * @throws MILL_REVISION_CONFLICT when one revision comes with two contents: they are of two writers, or the function that made them is not repeatable
 * @example means.groupByKey().reduce(latestRevision)
 */
export function latestRevision<R extends Revised>(stored: R, written: R): R {
  if (written.revision > stored.revision) return written;
  if (written.revision === stored.revision && !isDeepStrictEqual(stored, written)) {
    throw new MillraceError(
      'MILL_REVISION_CONFLICT',
      `Revision ${stored.revision} has two contents: ${JSON.stringify(stored)} and ${JSON.stringify(written)}.`,
      { details: { revision: stored.revision } },
    );
  }
  return stored;
}
