/** What the answers of a streams group's coordinator mean to a member. */
import { ErrorCodes } from '../kafka/error-codes.js';
import { StreamsStatus } from '../kafka/streams-groups.js';

export type StreamsReaction =
  | 'none'
  /** The same again after a pause. */
  | 'retry'
  /** The coordinator has moved. */
  | 'findCoordinator'
  /** The group went on without this member: everything owned is lost, and it joins anew. */
  | 'rejoin'
  /** Another process holds the place, or one that died does until its session ends. */
  | 'occupied'
  | 'fatal';

const fencedMemberEpoch = 110;
const unreleasedInstanceId = 111;
const unknownServerError = -1;

const reactions: ReadonlyMap<number, StreamsReaction> = new Map<number, StreamsReaction>([
  [ErrorCodes.NONE, 'none'],
  [unknownServerError, 'retry'],
  [ErrorCodes.REQUEST_TIMED_OUT, 'retry'],
  [ErrorCodes.KAFKA_STORAGE_ERROR, 'retry'],
  [ErrorCodes.COORDINATOR_LOAD_IN_PROGRESS, 'retry'],
  [ErrorCodes.COORDINATOR_NOT_AVAILABLE, 'findCoordinator'],
  [ErrorCodes.NOT_COORDINATOR, 'findCoordinator'],
  [ErrorCodes.UNKNOWN_MEMBER_ID, 'rejoin'],
  [ErrorCodes.GROUP_ID_NOT_FOUND, 'rejoin'],
  [fencedMemberEpoch, 'rejoin'],
  [unreleasedInstanceId, 'occupied'],
]);

/** A code that is not listed is fatal: a topology that is not the group's, authorisation, FENCED_INSTANCE_ID, … */
export function streamsReaction(errorCode: number): StreamsReaction {
  return reactions.get(errorCode) ?? 'fatal';
}

/** Nobody gets tasks while the group says one of these. */
const blocking: ReadonlySet<number> = new Set([
  StreamsStatus.MISSING_SOURCE_TOPICS,
  StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
  StreamsStatus.MISSING_INTERNAL_TOPICS,
  StreamsStatus.ASSIGNMENT_DELAYED,
]);

/** The group does not mend these by itself, unless the coordinator has yet to hear of topics that were just made. */
const fatalInTime: ReadonlySet<number> = new Set([
  StreamsStatus.MISSING_SOURCE_TOPICS,
  StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
  StreamsStatus.MISSING_INTERNAL_TOPICS,
]);

const fatalAtOnce: ReadonlySet<number> = new Set([StreamsStatus.STALE_TOPOLOGY, StreamsStatus.SHUTDOWN_APPLICATION]);

export const isBlocking = (code: number): boolean => blocking.has(code);
export const isFatalInTime = (code: number): boolean => fatalInTime.has(code);
export const isFatalAtOnce = (code: number): boolean => fatalAtOnce.has(code);
