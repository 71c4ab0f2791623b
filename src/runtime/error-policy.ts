/** What to do with records that fail, and the context handlers see. Names and rules as Kafka Streams' exception handlers (KIP-1033, KIP-1034). */

/**
 * `fail`: the error goes to the uncaught-error handler. `continue`: the record is left out, counted and logged. `retry`: once more, after a pause, up to `HandlerRetryOptions.attempts` times.
 * `deadLetter`: it goes to `deadLetterTopic`.
 */
export type HandlerAnswer = 'fail' | 'continue' | 'retry' | 'deadLetter';

/** The record that failed, and where. */
export interface FailedRecord {
  /** Node that failed; the source node for undecodable records. */
  readonly node: string;
  /** Sub-topology and partition: `0_3`. */
  readonly taskId: string;
  /** Input record that was in work; null for emissions at a barrier and punctuations. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** ms since the epoch. */
  readonly timestamp: number;
  /** How often it has failed here, this time included: 1 at first, more after an answer `retry`. */
  readonly attempt: number;
}

/** For input records that a serde can't read. */
export type DeserializationHandler = HandlerAnswer | ((error: Error, record: FailedRecord) => HandlerAnswer | Promise<HandlerAnswer>);
/** For records that a user function throws or rejects on. */
export type ProcessingHandler =
  | HandlerAnswer
  | ((error: Error, record: FailedRecord & { readonly key: unknown; readonly value: unknown }) => HandlerAnswer | Promise<HandlerAnswer>);
/** For output records that can't be encoded, or are too large for their topic. */
export type ProductionHandler =
  HandlerAnswer | ((error: Error, record: FailedRecord & { readonly outputTopic: string }) => HandlerAnswer | Promise<HandlerAnswer>);

/** Bounds of the answer `retry`. Times are milliseconds. */
export interface HandlerRetryOptions {
  /** How often a record is tried again. Default 3. */
  readonly attempts?: number;
  /** Pause before the first time; it doubles with each. Default 100. */
  readonly backoff?: number;
  /** Longest pause. Default 1000. */
  readonly maxBackoff?: number;
  /** What becomes of a record that still fails. Default `fail`. */
  readonly afterwards?: 'fail' | 'continue' | 'deadLetter';
}

export const defaultRetry: Required<HandlerRetryOptions> = Object.freeze({
  attempts: 3,
  backoff: 100,
  maxBackoff: 1000,
  afterwards: 'fail',
});

export interface ErrorPolicy {
  readonly deserialization: DeserializationHandler;
  readonly processing: ProcessingHandler;
  readonly production: ProductionHandler;
  /** Where 'deadLetter' records go; null: 'deadLetter' is refused when the app is built. */
  readonly deadLetterTopic: string | null;
  readonly retry: Required<HandlerRetryOptions>;
  /** Most that a task may rest in one epoch before records are tried again, ms: the epoch's transaction is open all the while. */
  readonly retryBudgetMs: number;
}

export const failAlways: ErrorPolicy = {
  deserialization: 'fail',
  processing: 'fail',
  production: 'fail',
  deadLetterTopic: null,
  retry: defaultRetry,
  retryBudgetMs: 5000,
};

/** The handlers as a configuration has them. */
export interface HandlerOptions {
  readonly deserializationHandler?: DeserializationHandler;
  readonly processingHandler?: ProcessingHandler;
  readonly productionHandler?: ProductionHandler;
  readonly deadLetterTopic?: string | null;
  readonly retry?: HandlerRetryOptions;
}

/** @param retryBudgetMs see `ErrorPolicy` */
export function errorPolicy(options: HandlerOptions, retryBudgetMs: number): ErrorPolicy {
  return {
    deserialization: options.deserializationHandler ?? 'fail',
    processing: options.processingHandler ?? 'fail',
    production: options.productionHandler ?? 'fail',
    deadLetterTopic: options.deadLetterTopic ?? null,
    retry: { ...defaultRetry, ...options.retry },
    retryBudgetMs,
  };
}

/** What is wrong with the handlers of a configuration, one sentence each. */
export function handlerFaults(options: HandlerOptions): string[] {
  const faults: string[] = [];
  for (const handler of ['deserializationHandler', 'processingHandler', 'productionHandler'] as const) {
    const value = options[handler];
    if (value === undefined || typeof value === 'function') continue;
    if (!['fail', 'continue', 'retry', 'deadLetter'].includes(value))
      faults.push(`${handler} must be "fail", "continue", "retry", "deadLetter" or a function`);
    if (value === 'deadLetter' && !options.deadLetterTopic) faults.push(`${handler} is "deadLetter" but deadLetterTopic is not set`);
  }
  return [...faults, ...retryFaults(options)];
}

function retryFaults({ retry, deadLetterTopic }: HandlerOptions): string[] {
  if (retry === undefined) return [];
  if (typeof retry !== 'object' || (retry as unknown) === null) return ['retry must be an object'];
  const faults: string[] = [];
  for (const key of Object.keys(retry)) if (!(key in defaultRetry)) faults.push(`retry.${key} is not an option`);
  const { attempts, backoff, maxBackoff, afterwards } = { ...defaultRetry, ...retry };
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 1000) faults.push('retry.attempts must be a whole number from 1 to 1000');
  if (!(Number.isFinite(backoff) && backoff >= 0)) faults.push('retry.backoff must be milliseconds, 0 or more');
  if (!(Number.isFinite(maxBackoff) && maxBackoff >= 0)) faults.push('retry.maxBackoff must be milliseconds, 0 or more');
  if (!['fail', 'continue', 'deadLetter'].includes(afterwards)) faults.push('retry.afterwards must be "fail", "continue" or "deadLetter"');
  if (afterwards === 'deadLetter' && !deadLetterTopic) faults.push('retry.afterwards is "deadLetter" but deadLetterTopic is not set');
  return faults;
}

/** Whether a handler may answer 'retry'. */
export function mayRetry(handler: HandlerAnswer | ((error: Error, record: never) => unknown)): boolean {
  return handler === 'retry' || typeof handler === 'function';
}

/** Asks a handler, whatever its form. */
export function askHandler<R>(
  handler: HandlerAnswer | ((error: Error, record: R) => HandlerAnswer | Promise<HandlerAnswer>),
  error: Error,
  record: R,
): HandlerAnswer | Promise<HandlerAnswer> {
  return typeof handler === 'function' ? handler(error, record) : handler;
}
