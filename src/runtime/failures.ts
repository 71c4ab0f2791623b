import { MillraceError, type ErrorCode } from '../errors.js';
import { DeadLetters } from './dead-letters.js';
import { askHandler, type FailedRecord, type HandlerAnswer } from './error-policy.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/**
 * Decides the fate of records that fail in one task: asks the handler, counts, dead-letters or throws.
 *
 * What it throws names topic, partition and offset; an error it has thrown once passes through unchanged.
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
    this.env.metrics.deserializationErrors++;
    const failed = this.describe(node);
    const answer = askHandler(this.env.errors.deserialization, asError(error), failed);
    return this.obey(answer, 'MILL_DESERIALIZATION', `can’t decode the record`, error, failed);
  }

  /** A user function that threw or rejected. */
  processing(error: unknown, node: string, key: unknown, value: unknown): Promise<'skip'> | 'skip' {
    this.env.metrics.processingErrors++;
    const failed = { ...this.describe(node), key, value };
    const answer = askHandler(this.env.errors.processing, asError(error), failed);
    const done = this.obey(answer, 'MILL_PROCESSING', `${node} failed on the record`, error, failed);
    return done === undefined ? 'skip' : done.then(() => 'skip' as const);
  }

  /** An output record that can't be encoded or is too large. */
  production(error: unknown, node: string, outputTopic: string): Promise<void> | void {
    this.env.metrics.productionErrors++;
    const failed = { ...this.describe(node), outputTopic };
    const answer = askHandler(this.env.errors.production, asError(error), failed);
    return this.obey(answer, 'MILL_PRODUCTION', `can’t produce to ${outputTopic}`, error, failed);
  }

  private obey(
    answer: HandlerAnswer | Promise<HandlerAnswer>,
    code: ErrorCode,
    what: string,
    error: unknown,
    failed: FailedRecord,
  ): Promise<void> | void {
    if (typeof answer !== 'string') return answer.then((late) => this.obey(late, code, what, error, failed));
    const where = failed.topic === null ? `in task ${failed.taskId}` : `of ${failed.topic}-${failed.partition} at offset ${failed.offset}`;
    if (answer === 'fail') {
      const { node, taskId, topic, partition, offset } = failed;
      throw new MillraceError(code, `${what} ${where}: ${asError(error).message}`, {
        cause: error,
        details: { node, taskId, topic, partition, offset },
      });
    }
    this.env.logger.warn(
      { ...failed, key: undefined, value: undefined, error: asError(error).message, code },
      `${what} ${where}: ${answer}`,
    );
    if (answer === 'continue') return;
    this.env.metrics.deadLetters++;
    return this.deadLetters.write(this.record, asError(error));
  }

  private describe(node: string): FailedRecord {
    const { topic, partition, offset, timestamp } = this.record;
    return { node, taskId: this.taskId, topic, partition, offset, timestamp };
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
