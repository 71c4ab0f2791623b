import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError, type ErrorCode } from '../errors.js';
import { DeadLetters } from './dead-letters.js';
import { askHandler, type FailedRecord, type HandlerAnswer } from './error-policy.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/** A record that failed, on its way to a decision. */
interface Failure {
  readonly code: ErrorCode;
  /** What could not be done, for the message. */
  readonly what: string;
  readonly error: unknown;
  readonly failed: FailedRecord;
}

/**
 * Decides the fate of records that fail in one task: asks the handler, counts, dead-letters or throws.
 *
 * What it throws names topic, partition and offset; an error it has thrown once passes through unchanged. A handler that fails itself, or answers something
 * else than it may, fails the record.
 */
export class TaskFailures {
  private readonly deadLetters: DeadLetters;

  constructor(
    private readonly taskId: string,
    private readonly env: TaskEnvironment,
    private readonly record: TaskRecord,
  ) {
    this.deadLetters = new DeadLetters(env.errors.deadLetterTopic, env.output);
  }

  /** An input record that a serde can't read. Returns once the record is dropped or dead-lettered. */
  undecodable(error: unknown, node: string): Promise<void> | void {
    this.record.mustBeOpen();
    this.env.metrics.deserializationErrors++;
    const failed = this.describe(node);
    const failure: Failure = { code: 'MILL_DESERIALIZATION', what: 'can’t decode the record', error, failed };
    return this.decide(failure, () => askHandler(this.env.errors.deserialization, asError(error), failed));
  }

  /** A user function that threw or rejected. */
  processing(error: unknown, node: string, key: unknown, value: unknown): Promise<'skip'> | 'skip' {
    this.record.mustBeOpen();
    this.env.metrics.processingErrors++;
    const failed = this.describe(node);
    const failure: Failure = { code: 'MILL_PROCESSING', what: `${node} failed on the record`, error, failed };
    const done = this.decide(failure, () => askHandler(this.env.errors.processing, asError(error), { ...failed, key, value }));
    return done === undefined ? 'skip' : done.then(() => 'skip' as const);
  }

  /** An output record that can't be encoded or is too large. */
  production(error: unknown, node: string, outputTopic: string): Promise<void> | void {
    this.record.mustBeOpen();
    this.env.metrics.productionErrors++;
    const failed = this.describe(node);
    const failure: Failure = { code: 'MILL_PRODUCTION', what: `can’t produce to ${outputTopic}`, error, failed };
    return this.decide(failure, () => askHandler(this.env.errors.production, asError(error), { ...failed, outputTopic }));
  }

  private decide(failure: Failure, ask: () => HandlerAnswer | Promise<HandlerAnswer>): Promise<void> | void {
    let answer: HandlerAnswer | Promise<HandlerAnswer>;
    try {
      answer = ask();
    } catch (thrown) {
      throw handlerFailed(failure, asError(thrown).message);
    }
    if (!isPromiseLike(answer)) return this.obey(answer, failure);
    return Promise.resolve(answer).then(
      (late) => this.obey(late, failure),
      (thrown: unknown) => {
        throw handlerFailed(failure, asError(thrown).message);
      },
    );
  }

  private obey(answer: HandlerAnswer, failure: Failure): Promise<void> | void {
    const { code, what, error, failed } = failure;
    switch (answer) {
      case 'fail':
        throw failedBy(failure, asError(error).message);
      case 'continue':
      case 'deadLetter':
        this.env.logger.warn({ ...failed, error: asError(error).message, code }, `${what} ${placeOf(failed)}: ${answer}`);
        if (answer === 'continue') return;
        this.env.metrics.deadLetters++;
        return this.deadLetters.write(this.record, asError(error));
      default:
        throw handlerFailed(failure, `it answered ${String(answer)}`);
    }
  }

  private describe(node: string): FailedRecord {
    const { topic, partition, offset, timestamp } = this.record;
    return { node, taskId: this.taskId, topic, partition, offset, timestamp };
  }
}

function handlerFailed(failure: Failure, reason: string): MillraceError {
  return failedBy(failure, `${asError(failure.error).message} (and the handler that was asked about it failed: ${reason})`);
}

function failedBy({ code, what, error, failed }: Failure, reason: string): MillraceError {
  const { node, taskId, topic, partition, offset } = failed;
  return new MillraceError(code, `${what} ${placeOf(failed)}: ${reason}`, {
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
