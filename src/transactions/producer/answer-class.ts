/**
 * What a broker's error code means to the producer, by request: the general treatment of `error-codes.ts` with the exceptions that
 * hold inside a transaction. The machine knows broker codes only through this file.
 */
import { ErrorCodes as E, errorName, errorTreatment, isAuthorizationError } from '../../kafka/error-codes.js';
import type { ErrorCode } from '../../errors.js';

export type ProducerRequest = 'initProducerId' | 'addPartitions' | 'addOffsets' | 'txnOffsetCommit' | 'offsetCommit' | 'endTxn' | 'produce';

export type AnswerClass =
  | 'ok'
  /** Something has to change in the cluster; wait and send again. */
  | 'retry'
  /** The previous transaction's markers are being written; again within milliseconds. */
  | 'concurrent'
  /** The coordinator moved or loads: find it again, then send again. */
  | 'refind'
  /** The partition's leader moved or the topic is not known: refresh the metadata, then send again. */
  | 'refresh'
  /** Sequence gap: an earlier batch of the partition failed, or the broker lost the producer's state. */
  | 'outOfOrder'
  /** The epoch is lost, a new identity mends it. */
  | 'abort'
  /** The same, and the group no longer knows the member in this generation. */
  | 'memberFenced'
  | 'fenced'
  | 'tooLarge'
  | 'fatal';

export function classify(request: ProducerRequest, code: number): AnswerClass {
  const special = exceptions[request].get(code) ?? everywhere.get(code);
  if (special !== undefined) return special;
  const treatment = errorTreatment(code);
  return treatment === 'none' ? 'ok' : treatment;
}

export function saysTopicMissing(code: number): boolean {
  return code === E.UNKNOWN_TOPIC_OR_PARTITION || code === E.UNKNOWN_TOPIC_ID;
}

/**
 * Whether an EndTxn with this answer may have been carried out all the same: the coordinator's log append can get through although
 * the answer says that it did not. Only these two are given before anything is written.
 */
export function leavesEndInDoubt(code: number): boolean {
  return code !== E.CONCURRENT_TRANSACTIONS && code !== E.COORDINATOR_LOAD_IN_PROGRESS;
}

/** The code of the error that a fatal answer becomes. */
export function fatalErrorCode(code: number): ErrorCode {
  if (isAuthorizationError(code)) return 'MILL_AUTHORIZATION';
  return code === INVALID_RECORD ? 'MILL_PRODUCTION' : 'MILL_BROKER_ERROR';
}

export function describeCode(code: number): string {
  return `${errorName(code)} (${code})`;
}

const UNKNOWN_SERVER_ERROR = -1;
const RECORD_LIST_TOO_LARGE = 18;
const INVALID_RECORD = 87;
const FENCED_MEMBER_EPOCH = 110;
const STALE_MEMBER_EPOCH = 113;

type Rows = readonly (readonly [code: number, is: AnswerClass])[];

const coordinatorMoved: Rows = [
  [E.COORDINATOR_LOAD_IN_PROGRESS, 'refind'],
  [E.COORDINATOR_NOT_AVAILABLE, 'refind'],
  [E.NOT_COORDINATOR, 'refind'],
];

const memberGone: Rows = [
  [E.ILLEGAL_GENERATION, 'memberFenced'],
  [E.UNKNOWN_MEMBER_ID, 'memberFenced'],
  [E.REBALANCE_IN_PROGRESS, 'memberFenced'],
  [E.GROUP_ID_NOT_FOUND, 'memberFenced'],
  [E.FENCED_INSTANCE_ID, 'memberFenced'],
  [FENCED_MEMBER_EPOCH, 'memberFenced'],
  [STALE_MEMBER_EPOCH, 'memberFenced'],
];

const topicOfOffsetsMissing: Rows = [
  [E.UNKNOWN_TOPIC_OR_PARTITION, 'retry'],
  [E.UNKNOWN_TOPIC_ID, 'retry'],
];

/** Holds for every request unless `exceptions` says otherwise. An unexplained failure of the broker is retried within the time limit. */
const everywhere: ReadonlyMap<number, AnswerClass> = new Map([
  ...coordinatorMoved,
  [UNKNOWN_SERVER_ERROR, 'retry'],
  [E.UNKNOWN_TOPIC_OR_PARTITION, 'refresh'],
  [E.UNKNOWN_TOPIC_ID, 'refresh'],
  [E.CONCURRENT_TRANSACTIONS, 'concurrent'],
]);

const exceptions: Readonly<Record<ProducerRequest, ReadonlyMap<number, AnswerClass>>> = {
  // It names no earlier identity, so there is nothing to be fenced from: somebody else initialised at the same moment, or what the
  // coordinator keeps of the id is changing.
  initProducerId: new Map([
    [E.INVALID_PRODUCER_EPOCH, 'concurrent'],
    [E.PRODUCER_FENCED, 'concurrent'],
    [E.INVALID_TXN_STATE, 'retry'],
    [E.INVALID_PRODUCER_ID_MAPPING, 'retry'],
    [E.TRANSACTION_ABORTABLE, 'retry'],
  ]),
  addPartitions: new Map(),
  addOffsets: new Map(),
  txnOffsetCommit: new Map([...memberGone, ...topicOfOffsetsMissing]),
  offsetCommit: new Map([...memberGone, ...topicOfOffsetsMissing]),
  endTxn: new Map(),
  produce: new Map<number, AnswerClass>([
    [E.LEADER_NOT_AVAILABLE, 'refresh'],
    [E.NOT_LEADER_OR_FOLLOWER, 'refresh'],
    [E.REPLICA_NOT_AVAILABLE, 'refresh'],
    [E.KAFKA_STORAGE_ERROR, 'refresh'],
    [E.FENCED_LEADER_EPOCH, 'refresh'],
    [E.UNKNOWN_LEADER_EPOCH, 'refresh'],
    [E.INCONSISTENT_TOPIC_ID, 'refresh'],
    [E.MESSAGE_TOO_LARGE, 'tooLarge'],
    [RECORD_LIST_TOO_LARGE, 'tooLarge'],
    [E.OUT_OF_ORDER_SEQUENCE_NUMBER, 'outOfOrder'],
    [E.UNKNOWN_PRODUCER_ID, 'outOfOrder'],
    [E.DUPLICATE_SEQUENCE_NUMBER, 'ok'], // it is in the log
  ]),
};
