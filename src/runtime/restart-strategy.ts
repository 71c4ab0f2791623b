/**
 * Whether, and after which pause, an app goes on after an error that Millrace can't mend by itself. Names, defaults and rules are Flink's restart strategies
 * (`restart-strategy.*`), which operators know.
 *
 * Pure: what happened before goes in, a decision and what to remember come out. The clock is any that never goes back.
 */

/** Never: the first uncaught error stops the app. */
export interface NoRestart {
  /** Which one this is. */
  readonly strategy: 'none';
}

/** A number of restarts in the life of the app, each after the same pause. */
export interface FixedDelayRestart {
  /** Which one this is. */
  readonly strategy: 'fixedDelay';
  /** How often the app goes on; success in between gives none of them back. Default 1. */
  readonly attempts?: number;
  /** Pause before each, ms. Default 1000. */
  readonly delay?: number;
}

/** As long as errors come no more often than a rate. */
export interface FailureRateRestart {
  /** Which one this is. */
  readonly strategy: 'failureRate';
  /** Restarts within `failureRateInterval`; one more error in it stops the app. Default 1. */
  readonly maxFailuresPerInterval?: number;
  /** Milliseconds; default 60 000. */
  readonly failureRateInterval?: number;
  /** Pause before each restart, ms. Default 1000. */
  readonly delay?: number;
}

/** After pauses that grow with each error and begin anew after a quiet time. */
export interface ExponentialDelayRestart {
  /** Which one this is. */
  readonly strategy: 'exponentialDelay';
  /** First pause, ms. Default 1000. */
  readonly initialBackoff?: number;
  /** Longest pause, ms. Default 60 000. */
  readonly maxBackoff?: number;
  /** By how much each pause is longer than the one before. Default 1.5. */
  readonly backoffMultiplier?: number;
  /** Milliseconds without an error after which pauses and attempts begin anew. Default 3 600 000. */
  readonly resetBackoffThreshold?: number;
  /** Part of a pause by which it is longer or shorter at random, 0 to 1. Default 0.1. */
  readonly jitterFactor?: number;
  /** Restarts without such a quiet time before the app stops. Default: no bound. */
  readonly attemptsBeforeResetBackoff?: number;
}

/** The option `restart` of an app. */
export type RestartOptions = NoRestart | FixedDelayRestart | FailureRateRestart | ExponentialDelayRestart;

export type RestartStrategy = NoRestart | Required<FixedDelayRestart> | Required<FailureRateRestart> | Required<ExponentialDelayRestart>;

/** What a strategy remembers. */
export interface RestartHistory {
  /** Restarts that count: all, or those since the last quiet time. */
  readonly attempt: number;
  /** When the last restart was to happen, ms. */
  readonly restartedAt: number;
  /** When the last errors were that the app went on after, ms: as many as a failure rate needs. */
  readonly failures: readonly number[];
}

export type RestartDecision =
  | { readonly kind: 'restart'; readonly delayMs: number; readonly attempt: number }
  /** `reason` in words, for the error that stops the app. */
  | { readonly kind: 'giveUp'; readonly reason: string; readonly attempt: number };

export const noRestartsYet: RestartHistory = Object.freeze({ attempt: 0, restartedAt: -Infinity, failures: [] });

/** What an app does without the option when its uncaught-error handler answers `replaceThread`. */
export const defaultRestart: Required<ExponentialDelayRestart> = Object.freeze({
  strategy: 'exponentialDelay',
  initialBackoff: 1000,
  maxBackoff: 60_000,
  backoffMultiplier: 1.5,
  resetBackoffThreshold: 3_600_000,
  jitterFactor: 0.1,
  attemptsBeforeResetBackoff: Infinity,
});

export const restartDefaults = Object.freeze({
  none: { strategy: 'none' },
  fixedDelay: { strategy: 'fixedDelay', attempts: 1, delay: 1000 },
  failureRate: { strategy: 'failureRate', maxFailuresPerInterval: 1, failureRateInterval: 60_000, delay: 1000 },
  exponentialDelay: defaultRestart,
} as const satisfies { readonly [K in RestartStrategy['strategy']]: Extract<RestartStrategy, { readonly strategy: K }> });

/**
 * What follows an error at `now`, ms.
 *
 * @param random between 0 and 1, for the jitter
 */
export function afterError(
  strategy: RestartStrategy,
  history: RestartHistory,
  now: number,
  random: number,
): { readonly history: RestartHistory; readonly decision: RestartDecision } {
  switch (strategy.strategy) {
    case 'none':
      return givenUp(history, 'the restart strategy is "none"');
    case 'fixedDelay':
      if (history.attempt >= strategy.attempts) return givenUp(history, `fixedDelay allows ${times(strategy.attempts)}`);
      return restarted(history, now, strategy.delay);
    case 'failureRate':
      return byRate(strategy, history, now);
    case 'exponentialDelay':
      return byBackoff(strategy, history, now, random);
  }
}

function byRate(strategy: Required<FailureRateRestart>, history: RestartHistory, now: number): ReturnType<typeof afterError> {
  const { maxFailuresPerInterval, failureRateInterval, delay } = strategy;
  const failures = history.failures.filter((at) => now - at <= failureRateInterval);
  if (failures.length >= maxFailuresPerInterval) {
    return givenUp(history, `failureRate allows ${times(maxFailuresPerInterval)} within ${failureRateInterval} ms`);
  }
  return restarted({ ...history, failures: [...failures, now] }, now, delay);
}

function byBackoff(
  strategy: Required<ExponentialDelayRestart>,
  history: RestartHistory,
  now: number,
  random: number,
): ReturnType<typeof afterError> {
  const { initialBackoff, maxBackoff, backoffMultiplier, jitterFactor, attemptsBeforeResetBackoff } = strategy;
  const wasQuiet = now - history.restartedAt >= strategy.resetBackoffThreshold;
  const known = wasQuiet ? { ...history, attempt: 0 } : history;
  if (known.attempt >= attemptsBeforeResetBackoff) {
    return givenUp(
      known,
      `exponentialDelay allows ${times(attemptsBeforeResetBackoff)} without ${strategy.resetBackoffThreshold} ms of quiet`,
    );
  }
  const backoff = Math.min(maxBackoff, initialBackoff * backoffMultiplier ** known.attempt);
  const jittered = backoff * (1 + jitterFactor * (2 * random - 1));
  return restarted(known, now, Math.round(Math.min(maxBackoff, Math.max(initialBackoff, jittered))));
}

function restarted(history: RestartHistory, now: number, delayMs: number): ReturnType<typeof afterError> {
  const attempt = history.attempt + 1;
  return { history: { ...history, attempt, restartedAt: now + delayMs }, decision: { kind: 'restart', delayMs, attempt } };
}

function givenUp(history: RestartHistory, reason: string): ReturnType<typeof afterError> {
  return { history, decision: { kind: 'giveUp', reason, attempt: history.attempt } };
}

function times(count: number): string {
  return count === 1 ? 'one restart' : `${count} restarts`;
}
