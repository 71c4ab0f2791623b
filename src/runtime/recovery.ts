import { MillraceError, type ErrorCode } from '../errors.js';

/** Errors after which going back to the last commit and on from there is the cure. */
const recoverable: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'MILL_TRANSACTION_ABORTED',
  'MILL_PRODUCER_FENCED',
  'MILL_TRANSPORT',
  'MILL_STORE_CORRUPTED',
]);

/** Whether the thread mends the error by itself, or somebody has to decide. */
export function recoveryOf(error: unknown): 'recover' | 'ask' {
  return error instanceof MillraceError && recoverable.has(error.code) ? 'recover' : 'ask';
}
