/**
 * What a member says of itself at each join: the `userData` of its subscription, as JSON.
 *
 * JSON keeps it readable in a packet dump and open to new fields: a reader ignores what it does not know, and takes an absent field
 * for its default. `version` is the highest version the writer understands; a leader writes assignments in the lowest of its members.
 */
import { MillraceError } from '../errors.js';
import { decodeSubscription, encodeSubscription } from './consumer-protocol.js';
import type { TopicPartition } from '../kafka/port.js';
import { decodeRelease, encodeRelease, type Release } from './releases/release.js';
import { decodeRunningShapes, encodeRunningShapes, type RunningShapes, type RunningShapesBody } from './releases/running-shapes.js';
import { formatTaskId, parseTaskId, type TaskId } from './task-id.js';
import { decodeTaskSet, encodeTaskSet } from './task-set-codec.js';

export const subscriptionVersion = 3;

/** The part of a subscription that the application knows; asked for at every join. */
export interface MemberSubscription {
  /** Topics read by any of the application's tasks, by their full names. */
  readonly topics: readonly string[];
  /** Identity of the state directory: members with the same process id share disk state. */
  readonly processId: string;
  /** Index of the stream thread in its process. */
  readonly thread: number;
  /** null under at-least-once. */
  readonly transactionalId: string | null;
  readonly topologyFingerprint: string;
  /** What the topology is to the group; null from a member before version 3. */
  readonly release: Release | null;
  /** Tasks of which this process has state, on its disk or in a copy that it keeps. */
  readonly tasksWithState: readonly TaskOffsetSum[];
  /** Tasks of which it keeps a copy now. */
  readonly standbyTasks: readonly TaskId[];
  /** Those of `standbyTasks` that have caught up, by its own account: the ends that the leader reads later have moved on. */
  readonly caughtUpTasks: readonly TaskId[];
  /** `host:port` under which other instances reach this one for queries. */
  readonly applicationServer: string | null;
  /** Where the instance runs: rack, zone and the like. */
  readonly tags: Readonly<Record<string, string>>;
  /** Why every instance of the application is to stop; absent unless this member wants that. */
  readonly shutdown?: string;
}

/** Which shapes of contested parts ran, as far as the member was told. */
export interface LastRun {
  readonly generation: number;
  readonly running: RunningShapes;
}

/** How far the state of a task has got in a process. */
export interface TaskOffsetSum {
  readonly task: TaskId;
  /** Changelog offsets that the state has reached, summed over the task's stores: compared with the sum of the ends it gives the lag, in records. */
  readonly offsetSum: number;
}

/** A subscription as the leader sees it: with what the group member itself adds. */
export interface JoinedSubscription extends MemberSubscription {
  readonly version: number;
  /** Tasks the member goes on running until the next assignment. */
  readonly ownedTasks: readonly TaskId[];
  /** Generation in which `ownedTasks` were assigned; -1 for none. */
  readonly generation: number;
  /** What the last assignment said, and in which generation; null: there was none. */
  readonly lastRun: LastRun | null;
  /** Differs whenever the member wants a rebalance although nothing else changed: the broker skips one for equal metadata. */
  readonly nonce: string;
  /** The member goes as soon as it has given up what it has. */
  readonly isLeaving: boolean;
}

export function encodeMemberSubscription(subscription: JoinedSubscription, ownedPartitions: readonly TopicPartition[]): Buffer {
  const body: SubscriptionBody = {
    v: subscription.version,
    process: subscription.processId,
    thread: subscription.thread,
    txn: subscription.transactionalId,
    topology: subscription.topologyFingerprint,
    ...(subscription.release !== null && { release: encodeRelease(subscription.release) }),
    ...encodedLastRun(subscription.lastRun),
    owned: subscription.ownedTasks.map(formatTaskId),
    state: Object.fromEntries(subscription.tasksWithState.map(({ task, offsetSum }) => [formatTaskId(task), offsetSum])),
    standby: encodeTaskSet(subscription.standbyTasks),
    ready: encodeTaskSet(subscription.caughtUpTasks),
    server: subscription.applicationServer,
    tags: subscription.tags,
    nonce: subscription.nonce,
    ...(subscription.isLeaving && { leaving: true }),
    ...(subscription.shutdown !== undefined && { shutdown: subscription.shutdown }),
  };
  return encodeSubscription({
    topics: subscription.topics,
    userData: Buffer.from(JSON.stringify(body)),
    ownedPartitions,
    generation: subscription.generation,
  });
}

/** Throws MILL_GROUP_FATAL when the bytes are not a Millrace subscription. */
export function decodeMemberSubscription(bytes: Buffer): JoinedSubscription {
  try {
    const framed = decodeSubscription(bytes);
    const body = JSON.parse(framed.userData.toString()) as Partial<SubscriptionBody>;
    if (typeof body.v !== 'number' || typeof body.process !== 'string') throw new Error('no version or no process id');
    return {
      version: body.v,
      topics: framed.topics,
      processId: body.process,
      thread: body.thread ?? 0,
      transactionalId: body.txn ?? null,
      topologyFingerprint: body.topology ?? '',
      release: body.release === undefined ? null : decodeRelease(body.release),
      lastRun: body.ran === undefined ? null : { generation: body.ran.in, running: decodeRunningShapes(body.ran.running) },
      ownedTasks: (body.owned ?? []).map(parseTaskId),
      tasksWithState: Object.entries(body.state ?? {}).map(([task, offsetSum]) => ({ task: parseTaskId(task), offsetSum })),
      standbyTasks: decodeTaskSet(body.standby ?? ''),
      caughtUpTasks: decodeTaskSet(body.ready ?? ''),
      applicationServer: body.server ?? null,
      tags: body.tags ?? {},
      generation: framed.generation,
      nonce: body.nonce ?? '',
      isLeaving: body.leaving ?? false,
      ...(body.shutdown !== undefined && { shutdown: body.shutdown }),
    };
  } catch (cause) {
    throw new MillraceError('MILL_GROUP_FATAL', 'A member of the group sent a subscription that is not one of Millrace.', { cause });
  }
}

function encodedLastRun(lastRun: LastRun | null): Pick<SubscriptionBody, 'ran'> {
  if (lastRun === null) return {};
  const running = encodeRunningShapes(lastRun.running);
  return { ran: { in: lastRun.generation, ...(running !== undefined && { running }) } };
}

interface SubscriptionBody {
  readonly v: number;
  readonly process: string;
  readonly thread: number;
  readonly txn: string | null;
  readonly topology: string;
  readonly release?: string;
  readonly ran?: { readonly in: number; readonly running?: RunningShapesBody };
  readonly owned: readonly string[];
  readonly state: Readonly<Record<string, number>>;
  readonly standby: string;
  readonly ready: string;
  readonly server: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly nonce: string;
  readonly leaving?: boolean;
  readonly shutdown?: string;
}
