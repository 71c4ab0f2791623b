/** How an asynchronous operator calls the user's function: what users may set, checked, with defaults in the place of what they leave out. */
import { MillraceError } from '../../errors.js';

/**
 * In which order calls begin and results leave.
 *
 * - `arrival`: calls run side by side, results leave in the order of their records: the same output as an operator that waits for each call.
 * - `perKey`: a record's call begins when the result of the record before it with the same key has left; other keys go ahead. Records without a key have no order.
 * - `unordered`: each result leaves when it is there.
 */
export type AsyncOrder = 'arrival' | 'perKey' | 'unordered';

/** Which calls are repeated, and when. */
export interface RetryOptions {
  /** Calls of a record at most, the first included. */
  readonly attempts: number;
  /** Before the second call, ms; doubles for each further one, with up to a fifth more or less at random. Default 100. */
  readonly backoff?: number;
  /** Upper bound of the pause, ms. Default 10 000. */
  readonly maxBackoff?: number;
  /** Whether to call again after this error. Default: after any. A timeout is an error named `TimeoutError`. */
  readonly when?: (error: Error, attempt: number) => boolean;
}

/** The rules of an asynchronous operator's calls. */
export interface AsyncCallOptions {
  /** Calls under way at once, in each task. Default 16. */
  readonly concurrency?: number;
  /** Records that a task takes in before it pauses its input: those whose calls wait or are under way, and results that wait for their turn. Default 8 × `concurrency`. */
  readonly maxBufferedRecords?: number;
  /** The same bound in bytes of the records as they were read. Default 8 MiB. */
  readonly maxBufferedBytes?: number;
  /** Default `arrival`. */
  readonly order?: AsyncOrder;
  /** How long one call may take, ms; `Infinity` for ever. Then its `signal` aborts and the call has failed with a `TimeoutError`. Default 30 000. */
  readonly timeout?: number;
  /** Default: a call that fails is not repeated. */
  readonly retry?: RetryOptions;
}

/** The same with nothing left out. */
export interface CallRules {
  readonly concurrency: number;
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly order: AsyncOrder;
  readonly timeout: number;
  readonly attempts: number;
  readonly backoff: number;
  readonly maxBackoff: number;
  readonly retryWhen: (error: Error, attempt: number) => boolean;
}

const orders: readonly unknown[] = ['arrival', 'perKey', 'unordered'];
/** The longest time that a timer can wait for. */
const longestMs = 2_147_483_647;

/** @throws MILL_TOPOLOGY_INVALID naming every option that is out of range */
export function callRules(node: string, options: AsyncCallOptions): CallRules {
  const { concurrency = 16, order = 'arrival', timeout = 30_000, maxBufferedBytes = 8 * 1024 * 1024, retry = { attempts: 1 } } = options;
  const { maxBufferedRecords = 8 * concurrency } = options;
  const { attempts, backoff = 100, maxBackoff = 10_000, when = () => true } = retry;
  const faults: string[] = [];
  const whole = (what: string, value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): void => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      faults.push(`${what} must be a whole number of at least ${least}`);
  };
  whole('concurrency', concurrency, 1);
  whole('maxBufferedRecords', maxBufferedRecords, 1);
  whole('maxBufferedBytes', maxBufferedBytes, 1);
  if (timeout !== Infinity) whole('timeout', timeout, 1, longestMs);
  whole('retry.attempts', attempts, 1);
  whole('retry.backoff', backoff, 0, longestMs);
  whole('retry.maxBackoff', maxBackoff, 0, longestMs);
  if (!orders.includes(order)) faults.push(`order must be one of ${orders.join(', ')}`);
  if (typeof when !== 'function') faults.push('retry.when must be a function');
  if (faults.length > 0) throw new MillraceError('MILL_TOPOLOGY_INVALID', `${node}: ${faults.join('; ')}`, { details: { node, faults } });
  return {
    concurrency,
    maxRecords: maxBufferedRecords,
    maxBytes: maxBufferedBytes,
    order,
    timeout,
    attempts,
    backoff,
    maxBackoff,
    retryWhen: when,
  };
}
