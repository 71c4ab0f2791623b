/**
 * A user function has failed on something that is not the record in work: a row that waited for its time, or a timer of a key. Says of which row, so that the handler and the dead
 * letter can name it. Thrown below a guard, which takes it apart again: nobody else sees it.
 */
import { MillraceError } from '../errors.js';

export class FailedRow extends Error {
  /** @param value null for a timer */
  constructor(
    readonly error: unknown,
    readonly key: unknown,
    readonly value: unknown,
  ) {
    super('a row failed', { cause: error });
  }
}

/** `error`, with its row. One that has an address already stays what it is. */
export function ofRow(error: unknown, key: unknown, value: unknown = null): unknown {
  return error instanceof MillraceError || error instanceof FailedRow ? error : new FailedRow(error, key, value);
}
