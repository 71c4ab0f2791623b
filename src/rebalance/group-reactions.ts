/** What the broker's error codes mean to a group member: one table for all group requests. */
import { ErrorCodes } from '../kafka/error-codes.js';

export type GroupReaction =
  | 'none'
  /** The same again after a pause. */
  | 'retry'
  /** The coordinator has moved: look it up, then go on. */
  | 'findCoordinator'
  /** A rebalance has begun: join it, keep running what is owned. */
  | 'rejoin'
  /** Join again under the id that came with the answer (KIP-394). */
  | 'takeMemberId'
  /** The group went on without this generation: everything owned is lost, the id still stands. */
  | 'outdated'
  /** The coordinator does not know the member: everything owned is lost, and the id with it. */
  | 'forgotten'
  | 'fatal';

/** In a coordinator it is a failed append as a rule, which the next attempt may not meet. */
const unknownServerError = -1;

const reactions: ReadonlyMap<number, GroupReaction> = new Map<number, GroupReaction>([
  [ErrorCodes.NONE, 'none'],
  [unknownServerError, 'retry'],
  [ErrorCodes.REQUEST_TIMED_OUT, 'retry'],
  [ErrorCodes.KAFKA_STORAGE_ERROR, 'retry'],
  [ErrorCodes.COORDINATOR_LOAD_IN_PROGRESS, 'retry'],
  [ErrorCodes.COORDINATOR_NOT_AVAILABLE, 'findCoordinator'],
  [ErrorCodes.NOT_COORDINATOR, 'findCoordinator'],
  [ErrorCodes.ILLEGAL_GENERATION, 'outdated'],
  [ErrorCodes.UNKNOWN_MEMBER_ID, 'forgotten'],
  [ErrorCodes.REBALANCE_IN_PROGRESS, 'rejoin'],
  [ErrorCodes.MEMBER_ID_REQUIRED, 'takeMemberId'],
]);

/** A code that is not listed is fatal: FENCED_INSTANCE_ID, GROUP_MAX_SIZE_REACHED, INCONSISTENT_GROUP_PROTOCOL, INVALID_SESSION_TIMEOUT, authorisation, … */
export function groupReaction(errorCode: number): GroupReaction {
  return reactions.get(errorCode) ?? 'fatal';
}
