import { MillraceError, type ErrorCode } from '../errors.js';
import { errorTreatment } from '../kafka/error-codes.js';

/** Errors after which going back to the last commit and on from there is the cure. */
const recoverable: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'MILL_RETRY',
  'MILL_TRANSACTION_ABORTED',
  'MILL_PRODUCER_FENCED',
  'MILL_TRANSPORT',
  'MILL_BROKER_UNREACHABLE',
  'MILL_STORE_CORRUPTED',
  // The instance's directory is locked once, at the start; a task's folder is in use for as long as another thread of this process has the task.
  'MILL_STORE_DIRECTORY_LOCKED',
]);

/** Between attempts to recover, or to open a task. */
export const recoveryPause = { initialMs: 50, maxMs: 10_000 };

/** Whether the thread mends the error by itself, or somebody has to decide. */
export function recoveryOf(error: unknown): 'recover' | 'ask' {
  if (!(error instanceof MillraceError)) return 'ask';
  return recoverable.has(error.code) || isPassing(error) ? 'recover' : 'ask';
}

/** How long the thread rests before a record is processed again that a handler wants tried once more; null for other errors. */
export function retryPauseOf(error: unknown): number | null {
  if (!(error instanceof MillraceError) || error.code !== 'MILL_RETRY') return null;
  const { retryInMs } = error.details;
  return typeof retryInMs === 'number' ? retryInMs : 0;
}

/** UNKNOWN_SERVER_ERROR. */
const brokerFailed = -1;

/** A broker's answer that says "not now": a leader is being elected, a coordinator moves; or that it failed itself. */
function isPassing({ code, details }: MillraceError): boolean {
  const answer = details['brokerErrorCode'];
  return code === 'MILL_BROKER_ERROR' && typeof answer === 'number' && (answer === brokerFailed || errorTreatment(answer) === 'retry');
}
