/**
 * What the leader tells one member: its tasks and what it has to know of the others, as JSON in the assignment's `userData`.
 *
 * The same rules as for subscriptions: unknown fields are ignored, absent ones have defaults. From version 2 on a long one is compressed (gzip, told by its
 * first byte), since the broker keeps the assignments of all members in one record, bounded by `max.message.bytes`.
 */
import { gunzipSync, gzipSync } from 'node:zlib';
import { MillraceError } from '../errors.js';
import { decodeAssignment, encodeAssignment } from './consumer-protocol.js';
import type { TopicPartition } from '../kafka/port.js';
import type { AssignedMember } from './group-view.js';
import {
  decodeRunningShapes,
  encodeRunningShapes,
  nothingContested,
  type RunningShapes,
  type RunningShapesBody,
} from './releases/running-shapes.js';
import { formatTaskId, parseTaskId, type TaskId } from './task-id.js';
import { decodeTaskSet, encodeTaskSet } from './task-set-codec.js';

export const assignmentVersion = 3;

export interface MemberAssignment {
  readonly version: number;
  readonly activeTasks: readonly TaskId[];
  /** Tasks of which the member keeps a copy of the state; empty from a leader before version 2. */
  readonly standbyTasks: readonly TaskId[];
  /** Those of `standbyTasks` that are to run here once they have caught up. */
  readonly warmupTasks: readonly TaskId[];
  /** Input partitions of `activeTasks`: what Kafka's tools show. */
  readonly partitions: readonly TopicPartition[];
  /** Transactional ids of all members of this generation: the transaction of any other id of the application has lost its owner. */
  readonly liveTransactionalIds: readonly string[];
  /** No task waits for another member to give it up, so no follow-up rebalance is expected. */
  readonly settled: boolean;
  /** Why the leader could not assign, or refuses this member; the application decides what to do. */
  readonly error: AssignmentError | null;
  /** Every member of the generation with its tasks, this one included; empty from a leader before version 2. */
  readonly members: readonly AssignedMember[];
  /** Fingerprint of the release whose numbers the tasks have: that of the member, as it joined; null from a leader before version 3. */
  readonly release: string | null;
  /** To be said again at the next join. */
  readonly running: RunningShapes;
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
  warmupTasks: [],
  partitions: [],
  liveTransactionalIds: [],
  settled: true,
  error: null,
  members: [],
  release: null,
  running: nothingContested,
};

/** Shorter ones are left readable. */
const compressFromBytes = 1024;
const gzipMagic = 0x1f;

export function encodeMemberAssignment(assignment: MemberAssignment): Buffer {
  const running = encodeRunningShapes(assignment.running);
  const body: AssignmentBody = {
    v: assignment.version,
    active: assignment.activeTasks.map(formatTaskId),
    standby: assignment.standbyTasks.map(formatTaskId),
    ...(assignment.warmupTasks.length > 0 && { warmup: assignment.warmupTasks.map(formatTaskId) }),
    txns: assignment.liveTransactionalIds,
    settled: assignment.settled,
    error: assignment.error,
    members: assignment.members.map((member) => ({
      id: member.memberId,
      process: member.processId,
      ...(member.thread !== 0 && { thread: member.thread }),
      ...(member.applicationServer !== null && { server: member.applicationServer }),
      ...(Object.keys(member.tags).length > 0 && { tags: member.tags }),
      active: encodeTaskSet(member.activeTasks),
      standby: encodeTaskSet(member.standbyTasks),
    })),
    ...(assignment.release !== null && { release: assignment.release }),
    ...(running !== undefined && { running }),
  };
  const text = Buffer.from(JSON.stringify(body));
  const userData = assignment.version >= 2 && text.length >= compressFromBytes ? gzipSync(text) : text;
  return encodeAssignment({ partitions: assignment.partitions, userData });
}

/** Throws MILL_GROUP_FATAL when the bytes are not a Millrace assignment. Nothing assigned reads as `emptyAssignment`. */
export function decodeMemberAssignment(bytes: Buffer): MemberAssignment {
  try {
    const { partitions, userData } = decodeAssignment(bytes);
    if (userData.length === 0) return emptyAssignment;
    const text = userData[0] === gzipMagic ? gunzipSync(userData) : userData;
    const body = JSON.parse(text.toString()) as Partial<AssignmentBody>;
    return {
      version: body.v ?? assignmentVersion,
      activeTasks: (body.active ?? []).map(parseTaskId),
      standbyTasks: (body.standby ?? []).map(parseTaskId),
      warmupTasks: (body.warmup ?? []).map(parseTaskId),
      partitions,
      liveTransactionalIds: body.txns ?? [],
      settled: body.settled ?? true,
      error: body.error ?? null,
      members: (body.members ?? []).map((member) => ({
        memberId: member.id,
        processId: member.process,
        thread: member.thread ?? 0,
        applicationServer: member.server ?? null,
        tags: member.tags ?? {},
        activeTasks: decodeTaskSet(member.active),
        standbyTasks: decodeTaskSet(member.standby),
      })),
      release: body.release ?? null,
      running: decodeRunningShapes(body.running),
    };
  } catch (cause) {
    throw new MillraceError('MILL_GROUP_FATAL', 'The leader of the group sent an assignment that is not one of Millrace.', { cause });
  }
}

interface AssignmentBody {
  readonly v: number;
  readonly active: readonly string[];
  readonly standby: readonly string[];
  readonly warmup?: readonly string[];
  readonly txns: readonly string[];
  readonly settled: boolean;
  readonly error: AssignmentError | null;
  readonly members: readonly {
    readonly id: string;
    readonly process: string;
    readonly thread?: number;
    readonly server?: string;
    readonly tags?: Readonly<Record<string, string>>;
    readonly active: string;
    readonly standby: string;
  }[];
  readonly release?: string;
  readonly running?: RunningShapesBody;
}
