/** How each way of losing an epoch is told: the machine's failures and the error they become for the caller. */
import { MillraceError, type ErrorCode } from '../../errors.js';
import { describeCode, fatalErrorCode, type AnswerClass } from './answer-class.js';
import type { OutputPartition, QueuedBatch } from './output-partition.js';
import type { ProducerFailure } from './producer-protocol.js';

export function toError(failure: ProducerFailure, owner: string): MillraceError {
  const { code, message, severity, outcome, memberFenced, inDoubt, brokerErrorCode, topic, partition } = failure;
  return new MillraceError(code, `${message} (producer ${owner})`, {
    details: { severity, outcome, memberFenced, inDoubt, brokerErrorCode, topic, partition },
  });
}

export function aborted(message: string, extra: Partial<ProducerFailure> = {}): ProducerFailure {
  return failure('abort', 'MILL_TRANSACTION_ABORTED', message, extra);
}

export function fenced(message: string, extra: Partial<ProducerFailure> = {}): ProducerFailure {
  return failure('fenced', 'MILL_PRODUCER_FENCED', message, extra);
}

export function fatal(code: ErrorCode, message: string, extra: Partial<ProducerFailure> = {}): ProducerFailure {
  return failure('fatal', code, message, extra);
}

/** An answer that no repetition mends. */
export function brokerRefused(
  request: string,
  answer: AnswerClass,
  brokerErrorCode: number,
  at: { readonly topic?: string; readonly partition?: number } = {},
): ProducerFailure {
  const place = at.topic === undefined ? '' : ` for ${at.topic}-${at.partition}`;
  const extra = { brokerErrorCode, topic: at.topic, partition: at.partition };
  const said = `${request}${place} was answered ${describeCode(brokerErrorCode)}`;
  switch (answer) {
    case 'fenced':
      return fenced(said, extra);
    case 'fatal':
      return fatal(fatalErrorCode(brokerErrorCode), said, extra);
    case 'memberFenced':
      return aborted(`${said}: the group no longer knows this member in this generation`, { ...extra, memberFenced: true });
    default:
      return aborted(said, extra);
  }
}

export function batchTooLarge({ topic, partition }: OutputPartition, batch: QueuedBatch, brokerErrorCode: number): ProducerFailure {
  const { recordCount, byteLength } = batch.ref;
  const message = `${topic}-${partition} refused a batch of ${recordCount} records and ${byteLength} bytes: ${describeCode(brokerErrorCode)}`;
  return failure('abort', 'MILL_RECORD_TOO_LARGE', message, { topic, partition, brokerErrorCode });
}

export function batchLost({ topic, partition }: OutputPartition): ProducerFailure {
  return aborted(`The acknowledgement of a batch for ${topic}-${partition} got lost`, { topic, partition, inDoubt: true });
}

export function batchExpired({ topic, partition, leader }: OutputPartition, batch: QueuedBatch, timeoutMs: number): ProducerFailure {
  const why = leader < 0 ? 'the partition has no known leader' : `broker ${leader} keeps refusing it`;
  const message = `A batch for ${topic}-${partition} could not be delivered within ${timeoutMs} ms: ${why}`;
  return aborted(message, { topic, partition, inDoubt: batch.inDoubt });
}

export function sequenceBroken({ topic, partition }: OutputPartition, batch: QueuedBatch, brokerErrorCode: number): ProducerFailure {
  const message = `${topic}-${partition} lost track of this producer’s sequence ${batch.sequence}: ${describeCode(brokerErrorCode)}`;
  return aborted(message, { topic, partition, brokerErrorCode, inDoubt: batch.inDoubt });
}

export function topicMissing({ topic, partition }: OutputPartition, waitedMs: number, partitions: number): ProducerFailure {
  const what =
    partitions === 0 ? `Topic ${topic} does not exist` : `Topic ${topic} has ${partitions} partitions, none is number ${partition}`;
  return failure('fatal', 'MILL_TOPIC_MISSING', `${what} (waited ${Math.round(waitedMs)} ms)`, { topic, partition });
}

function failure(
  severity: ProducerFailure['severity'],
  code: ErrorCode,
  message: string,
  extra: Partial<ProducerFailure>,
): ProducerFailure {
  return { severity, code, message, outcome: 'aborted', memberFenced: false, inDoubt: false, ...extra };
}
