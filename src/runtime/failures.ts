import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError, type ErrorCode } from '../errors.js';
import { reasonOf } from '../errors/bare-message.js';
import { delay } from '../kafka/backoff.js';
import type { NodeFailure } from '../processors/node-guard.js';
import { DeadLetters } from './dead-letters.js';
import { askHandler, type FailedRecord, type HandlerAnswer } from './error-policy.js';
import { RetryLedger, type FailurePlace, type GivenUp } from './retry-ledger.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/** A record that failed, on its way to a decision. */
interface Failure {
  readonly code: ErrorCode;
  /** What could not be done, for the message. */
  readonly what: string;
  readonly error: unknown;
  readonly failed: FailedRecord;
  readonly place: FailurePlace;
  /** Whether what failed can be done again here and now. */
  readonly repeatable: boolean;
  /** What the node got, for failures of something else than the record in work. */
  readonly key?: unknown;
  /** Not the record in work has failed, but one that had waited, whose bytes nobody has any more. */
  readonly isOfWaiting?: boolean;
}

/** The record is given up, or what failed is to be done again. */
export type Verdict = 'skip' | 'retry';

/**
 * Decides the fate of records that fail in one task: asks the handler, counts, rests before another try, dead-letters or throws.
 *
 * What it throws names topic, partition and offset; an error it has thrown once passes through unchanged. A handler that fails itself, or answers something
 * else than it may, fails the record.
 *
 * `retry`: what has done nothing yet (a serde; a node that keeps nothing and has passed nothing on) is done again in place. Everything else would be done twice, so MILL_RETRY
 * sends the thread back to the last commit, and the record is processed anew from the state of that commit. The same when the task has rested for so long that the
 * transaction of its epoch might run out.
 *
 * What stands for several input records is never skipped: with it they would be lost, and there are no bytes for a dead letter.
 *
 * Whatever it throws it keeps as `fatal`: user code between the failure and the task may catch the error, but the record is half processed, and nothing of it may be committed.
 */
export class TaskFailures {
  private readonly deadLetters: DeadLetters;
  private readonly ledger: RetryLedger;
  /** Rested in the open epoch, ms. */
  private rested = 0;
  private doomedBy: Error | null = null;
  /** A record that went back to the last commit was given up: a commit now spares it, and what came before it, further returns. */
  isCommitDue = false;

  constructor(
    private readonly taskId: string,
    private readonly env: TaskEnvironment,
    private readonly record: TaskRecord,
  ) {
    this.deadLetters = new DeadLetters(env.errors.deadLetterTopic, env.output, taskId);
    this.ledger = env.retries ?? new RetryLedger();
    this.ledger.opened(taskId);
  }

  /** Why the task must end; null while it may go on. */
  get fatal(): Error | null {
    return this.doomedBy;
  }

  /** The task must end, also when somebody catches the error. The first one stays. */
  doom(error: unknown): Error {
    const fatal = asError(error);
    this.doomedBy ??= fatal;
    return fatal;
  }

  /** The task runs again, a commit may have come in between or not. */
  newSlice(): void {
    this.isCommitDue = false;
  }

  /** A barrier has come: what is processed from now on is of another epoch. For the parameters see `RetryLedger.barrier`. */
  newEpoch(isPassed: (topic: string, partition: number, offset: number) => boolean, isAllDone: boolean): void {
    this.rested = 0;
    this.record.epoch++;
    this.ledger.barrier(this.taskId, isPassed, isAllDone);
    // One of its own has nobody who could take the task back.
    if (this.env.retries === undefined) this.ledger.committed();
  }

  /** A wall-clock timer has run through. */
  timerEnded(timer: string): void {
    this.ledger.timerEnded(this.taskId, timer);
  }

  /** An input record that a serde can't read. `skip`: it is dropped or dead-lettered. */
  undecodable(error: unknown, node: string, attempt: number): Verdict | Promise<Verdict> {
    this.record.mustBeOpen();
    this.env.metrics.deserializationErrors++;
    const place = this.placeIn(node, 0);
    const failed = this.describe(place, attempt, true);
    const failure: Failure = { code: 'MILL_DESERIALIZATION', what: 'can’t decode the record', error, failed, place, repeatable: true };
    return this.decide(failure, () => askHandler(this.env.errors.deserialization, asError(error), failed));
  }

  /** A user function that threw or rejected. */
  processing({ error, node, key, value, isOfWaiting, attempt, call, repeatable }: NodeFailure): Verdict | Promise<Verdict> {
    this.record.mustBeOpen();
    this.env.metrics.processingErrors++;
    const place = this.placeIn(node, call);
    const failed = this.describe(place, attempt, repeatable);
    const what = `${node} failed on the record`;
    const failure: Failure = { code: 'MILL_PROCESSING', what, error, failed, place, repeatable, key, isOfWaiting };
    return this.decide(failure, () => askHandler(this.env.errors.processing, asError(error), { ...failed, key, value }));
  }

  /** An output record that can't be encoded or is too large. */
  production(error: unknown, node: string, outputTopic: string, key: unknown, attempt: number, call: number): Verdict | Promise<Verdict> {
    this.record.mustBeOpen();
    this.env.metrics.productionErrors++;
    const place = this.placeIn(node, call);
    const failed = this.describe(place, attempt, true);
    const failure: Failure = {
      code: 'MILL_PRODUCTION',
      what: `can’t produce to ${outputTopic}`,
      error,
      failed,
      place,
      repeatable: true,
      key,
    };
    return this.decide(failure, () => askHandler(this.env.errors.production, asError(error), { ...failed, outputTopic }));
  }

  /** Sends the record in work to the dead-letter topic without asking anybody. */
  deadLetter(node: string, error: MillraceError, key: unknown): Promise<void> {
    this.record.mustBeOpen();
    this.env.metrics.deadLetters++;
    return this.deadLetters.write(this.record, error, { node, key });
  }

  private decide(failure: Failure, ask: () => HandlerAnswer | Promise<HandlerAnswer>): Verdict | Promise<Verdict> {
    // User code has caught what ends the task, and failed in turn: there is nothing left to decide.
    if (this.doomedBy !== null) throw this.doomedBy;
    const known = this.ledger.givenUp(failure.place);
    if (known !== null) return this.obey(known, failure);
    let answer: HandlerAnswer | Promise<HandlerAnswer>;
    try {
      answer = ask();
    } catch (thrown) {
      throw this.doom(handlerFailed(failure, reasonOf(asError(thrown), failure.code)));
    }
    if (!isPromiseLike(answer)) return this.obey(answer, failure);
    return Promise.resolve(answer).then(
      (late) => this.obey(late, failure),
      (thrown: unknown) => {
        throw this.doom(handlerFailed(failure, reasonOf(asError(thrown), failure.code)));
      },
    );
  }

  private obey(answer: HandlerAnswer, failure: Failure): Verdict | Promise<Verdict> {
    const { code, what, error, failed } = failure;
    switch (answer) {
      case 'fail':
        throw this.doom(failedBy(failure, reasonOf(asError(error), code)));
      case 'retry':
        return this.retry(failure);
      case 'continue':
      case 'deadLetter':
        if (this.record.isOfSeveral) {
          const reason = `${reasonOf(asError(error), code)} (the handler said ${answer}, but this stands for several input records, which can't be skipped with it)`;
          throw this.doom(failedBy(failure, reason));
        }
        this.env.logger.warn({ ...failed, error: asError(error).message, code }, `${what} ${placeOf(failed)}: ${answer}`);
        this.giveUp(failure, answer);
        if (answer === 'continue') return 'skip';
        this.env.metrics.deadLetters++;
        return this.deadLetters
          .write(this.record, asError(error), { node: failed.node, key: failure.key, hasNoBytes: failure.isOfWaiting })
          .then(
            () => 'skip' as const,
            (thrown: unknown) => {
              throw this.doom(thrown);
            },
          );
      default:
        throw this.doom(handlerFailed(failure, `it answered ${String(answer)}`));
    }
  }

  private retry(failure: Failure): Verdict | Promise<Verdict> {
    const { env } = this;
    const { failed, error, code, what } = failure;
    const { attempts, backoff, maxBackoff, afterwards } = env.errors.retry;
    if (failed.attempt > attempts) return this.obey(afterwards, failure);
    const pauseMs = Math.min(backoff * 2 ** (failed.attempt - 1), maxBackoff);
    const inPlace = failure.repeatable && this.rested + pauseMs <= env.errors.retryBudgetMs;
    const message = asError(error).message;
    if (!inPlace && !this.ledger.failed(failure.place, failed.attempt)) {
      env.logger.warn(
        { ...failed, error: message, code, afterwards },
        `${what} ${placeOf(failed)}: too many uncommitted records are tried again already`,
      );
      return this.obey(afterwards, failure);
    }
    env.metrics.retries++;
    env.logger.warn({ ...failed, error: message, code, pauseMs, inPlace }, `${what} ${placeOf(failed)}: retry`);
    if (!inPlace) {
      const again = new MillraceError('MILL_RETRY', `${what} ${placeOf(failed)}: ${message}`, {
        cause: error,
        details: { ...failed, retryInMs: pauseMs },
      });
      throw this.doom(again);
    }
    this.rested += pauseMs;
    return (env.pause ?? delay)(pauseMs).then(() => {
      this.record.mustBeOpen();
      return 'retry' as const;
    });
  }

  private giveUp({ failed, place }: Failure, answer: GivenUp): void {
    // What was never tried again needs no memory: its handler is asked anew, and costs no further tries.
    if (failed.attempt === 1 && this.ledger.count(place) === 0) return;
    if (!this.ledger.giveUp(place, answer)) return;
    this.isCommitDue = true;
    this.env.requestCommit();
  }

  private placeIn(node: string, call: number): FailurePlace {
    const { topic, partition, offset, timer, isOfSeveral } = this.record;
    if (isOfSeveral) return { taskId: this.taskId, node, topic: null, partition: -1, offset: -1, timer, call };
    return { taskId: this.taskId, node, topic, partition, offset, timer, call };
  }

  /** `attempt` is that of this pass; passes before it, that ended with a return to the last commit, are added. */
  private describe(place: FailurePlace, attempt: number, repeatable: boolean): FailedRecord {
    const { taskId, node, topic, partition, offset } = place;
    const { timestamp } = this.record;
    return { node, taskId, topic, partition, offset, timestamp, attempt: this.ledger.count(place) + (repeatable ? attempt : 1) };
  }
}

function handlerFailed(failure: Failure, reason: string): MillraceError {
  return failedBy(failure, `${reasonOf(asError(failure.error), failure.code)} (and the handler that was asked about it failed: ${reason})`);
}

function failedBy({ code, what, error, failed }: Failure, reason: string): MillraceError {
  const { node, taskId, topic, partition, offset, attempt } = failed;
  const tries = attempt > 1 ? ` (tried ${attempt} times)` : '';
  return new MillraceError(code, `${what} ${placeOf(failed)}${tries}: ${reason}`, {
    cause: error,
    details: { node, taskId, topic, partition, offset },
  });
}

function placeOf({ topic, partition, offset, taskId }: FailedRecord): string {
  return topic === null ? `in task ${taskId}` : `of ${topic}-${partition} at offset ${offset}`;
}

function asError(error: unknown): Error {
  if (error instanceof Error) return error;
  try {
    return new Error(String(error));
  } catch {
    return new Error('something was thrown that is not an Error and has no text');
  }
}
