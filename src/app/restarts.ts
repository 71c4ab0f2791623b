import { MillraceError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { afterError, defaultRestart, noRestartsYet, type RestartDecision, type RestartStrategy } from '../runtime/restart-strategy.js';

/** The last uncaught error, and where it happened as far as that is known. */
export interface FailureSnapshot {
  /** Null for an error that is not Millrace's. */
  readonly code: string | null;
  readonly message: string;
  readonly taskId: string | null;
  readonly node: string | null;
  /** The input record that was in work; null when none was. */
  readonly topic: string | null;
  readonly partition: number | null;
  readonly offset: number | null;
  /** ms since the epoch. */
  readonly at: number;
  /** How often in a row it happened on this record (without one: in this task, with this code). */
  readonly times: number;
}

/** Uncaught errors of this instance, and what followed. */
export interface RestartMetricsSnapshot {
  /** Restarts after uncaught errors: each is one return to the last commit. */
  readonly numRestarts: number;
  readonly uncaughtErrors: number;
  /** Restarts that the strategy counts now; it gives up, or pauses longer, by this number. */
  readonly attempt: number;
  readonly lastFailure: FailureSnapshot | null;
}

export type RestartAnswer = RestartDecision | { readonly kind: 'refused' };

/**
 * Counts the uncaught errors of an app and says what follows them by its restart strategy. It is told of every one, and logs every one with the record that it happened on: a record that
 * fails whenever it comes must be seen, not suffered.
 */
export class Restarts {
  private history = noRestartsYet;
  private numRestarts = 0;
  private uncaughtErrors = 0;
  private last: FailureSnapshot | null = null;

  /** @param strategy of the configuration; null: none is given */
  constructor(
    private readonly strategy: RestartStrategy | null,
    private readonly logger: Logger,
    private readonly clock: { readonly now: () => number; readonly random: () => number } = {
      now: () => performance.now(),
      random: Math.random,
    },
  ) {}

  /** Whether the app goes on after an error without being told to by a handler. */
  get areOn(): boolean {
    return this.strategy !== null && this.strategy.strategy !== 'none';
  }

  /** @param isWanted false: the handler wants the app to stop, or what failed can't be replaced */
  failed(error: Error, isWanted: boolean): RestartAnswer {
    this.uncaughtErrors++;
    const failure = describe(error, this.last);
    this.last = failure;
    const answer = isWanted ? this.decide() : ({ kind: 'refused' } as const);
    if (answer.kind === 'restart') this.numRestarts++;
    const { code, taskId, node, topic, partition, offset, times } = failure;
    const follows = answer.kind === 'restart' ? `restart ${answer.attempt} in ${answer.delayMs} ms` : 'the app stops';
    const repeated = times > 1 ? `, the ${times}th time in a row here` : '';
    this.logger.error(
      { err: error, code, taskId, node, topic, partition, offset, times, answer },
      `uncaught error${repeated}: ${error.message}; ${follows}`,
    );
    return answer;
  }

  snapshot(): RestartMetricsSnapshot {
    const { numRestarts, uncaughtErrors, history, last } = this;
    return { numRestarts, uncaughtErrors, attempt: history.attempt, lastFailure: last };
  }

  private decide(): RestartDecision {
    const { history, decision } = afterError(this.strategy ?? defaultRestart, this.history, this.clock.now(), this.clock.random());
    this.history = history;
    return decision;
  }
}

/** What the app ends with when its strategy gives up: it names the record, and has the error itself as its cause. */
export function exhausted(cause: Error, { attempt, reason }: Extract<RestartDecision, { readonly kind: 'giveUp' }>): MillraceError {
  const after = attempt === 0 ? 'no restart' : attempt === 1 ? 'one restart' : `${attempt} restarts`;
  const details = cause instanceof MillraceError ? cause.details : {};
  return new MillraceError('MILL_RESTARTS_EXHAUSTED', `the app gave up after ${after} (${reason}): ${cause.message}`, { cause, details });
}

function describe(error: Error, last: FailureSnapshot | null): FailureSnapshot {
  const details: Readonly<Record<string, unknown>> = error instanceof MillraceError ? error.details : {};
  const place = {
    code: error instanceof MillraceError ? error.code : null,
    taskId: textOf(details['taskId']) ?? textOf(details['task']),
    node: textOf(details['node']),
    topic: textOf(details['topic']),
    partition: numberOf(details['partition']),
    offset: numberOf(details['offset']),
  };
  const times = last !== null && samePlace(place, last) ? last.times + 1 : 1;
  return { ...place, message: error.message, at: Date.now(), times };
}

type Place = Pick<FailureSnapshot, 'code' | 'taskId' | 'topic' | 'partition' | 'offset'>;

function samePlace(one: Place, other: Place): boolean {
  return (['code', 'taskId', 'topic', 'partition', 'offset'] as const).every((field) => one[field] === other[field]);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
