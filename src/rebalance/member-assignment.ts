/**
 * What the leader tells one member: its tasks and what it has to know of the others, as JSON in the assignment's `userData`.
 *
 * The same rules as for subscriptions: unknown fields are ignored, absent ones have defaults.
 */
import { MillraceError } from '../errors.js';
import { decodeAssignment, encodeAssignment } from './consumer-protocol.js';
import type { TopicPartition } from '../kafka/port.js';
import { formatTaskId, parseTaskId, type TaskId } from './task-id.js';

export const assignmentVersion = 1;

export interface MemberAssignment {
  readonly version: number;
  readonly activeTasks: readonly TaskId[];
  /** Reserved: always empty until standbys exist. */
  readonly standbyTasks: readonly TaskId[];
  /** Input partitions of `activeTasks`: what Kafka's tools show. */
  readonly partitions: readonly TopicPartition[];
  /** Transactional ids of all members of this generation: the transaction of any other id of the application has lost its owner. */
  readonly liveTransactionalIds: readonly string[];
  /** No task waits for another member to give it up, so no follow-up rebalance is expected. */
  readonly settled: boolean;
  /** Why the leader could not assign, or refuses this member; the application decides what to do. */
  readonly error: AssignmentError | null;
}

/** `code` is a Millrace error code (`MILL_TOPIC_MISSING`, `MILL_TOPOLOGY_NOT_COPARTITIONED`, …), as text so that newer leaders may send newer ones. */
export interface AssignmentError {
  readonly code: string;
  readonly message: string;
}

export const emptyAssignment: MemberAssignment = {
  version: assignmentVersion,
  activeTasks: [],
  standbyTasks: [],
  partitions: [],
  liveTransactionalIds: [],
  settled: true,
  error: null,
};

export function encodeMemberAssignment(assignment: MemberAssignment): Buffer {
  const body: AssignmentBody = {
    v: assignment.version,
    active: assignment.activeTasks.map(formatTaskId),
    standby: assignment.standbyTasks.map(formatTaskId),
    txns: assignment.liveTransactionalIds,
    settled: assignment.settled,
    error: assignment.error,
  };
  return encodeAssignment({ partitions: assignment.partitions, userData: Buffer.from(JSON.stringify(body)) });
}

/** Throws MILL_GROUP_FATAL when the bytes are not a Millrace assignment. Nothing assigned reads as `emptyAssignment`. */
export function decodeMemberAssignment(bytes: Buffer): MemberAssignment {
  try {
    const framed = decodeAssignment(bytes);
    if (framed.userData.length === 0) return emptyAssignment;
    const body = JSON.parse(framed.userData.toString()) as Partial<AssignmentBody>;
    return {
      version: body.v ?? assignmentVersion,
      activeTasks: (body.active ?? []).map(parseTaskId),
      standbyTasks: (body.standby ?? []).map(parseTaskId),
      partitions: framed.partitions,
      liveTransactionalIds: body.txns ?? [],
      settled: body.settled ?? true,
      error: body.error ?? null,
    };
  } catch (cause) {
    throw new MillraceError('MILL_GROUP_FATAL', 'The leader of the group sent an assignment that is not one of Millrace.', { cause });
  }
}

interface AssignmentBody {
  readonly v: number;
  readonly active: readonly string[];
  readonly standby: readonly string[];
  readonly txns: readonly string[];
  readonly settled: boolean;
  readonly error: AssignmentError | null;
}
