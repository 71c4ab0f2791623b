import type { GroupMemberIdentity } from '../kafka/port.js';
import type { AssignedMember } from './group-view.js';
import type { GroupPhase } from './group-protocol.js';
import type { TaskId } from './task-id.js';

export type SessionVerdict = 'ok' | 'lost';

/** A place in the application's group, whichever protocol the group speaks: what the rest of a stream thread needs of it. */
export interface GroupMembership {
  readonly state: GroupPhase;
  /** The assignment is in force and no further rebalance is known to come. */
  readonly memberStable: boolean;
  /** It has left, was stopped or failed: it claims nothing any more. */
  readonly hasEnded: boolean;
  /** Tasks that this member claims: running, or being given up. */
  readonly ownedTasks: readonly TaskId[];

  /**
   * Joins and resolves when the first assignment has been taken over. Waits as long as the group needs, telling the log.
   * Rejects with MILL_GROUP_FATAL, MILL_INSTANCE_FENCED or MILL_AUTHORIZATION when the group refuses this member, MILL_STATE_INVALID when it is stopped before.
   */
  start(): Promise<void>;
  /**
   * Gives up all tasks (`onRevoked`, awaited) and leaves. With `leaveGroup` false, the default of a static member, the broker keeps the member, and its tasks for it, until its
   * session ends. Before that the tasks may go on for `handoverMs` at most, until the others have heard of it; 0: they do not run any more. Never rejects.
   */
  leave(leaveGroup?: boolean | null, handoverMs?: number): Promise<void>;
  /** Ends everything at once: no callback, no goodbye. The broker drops the member when its session ends. */
  stop(): void;
  /** Who this is to the coordinator now. */
  identity(): GroupMemberIdentity;
  /** What fences commits: goes into TxnOffsetCommit and OffsetCommit. Read it anew for every request: a rebalance changes it while kept tasks run on. */
  commitIdentity(): GroupMemberIdentity;
  /**
   * After a commit was refused with ILLEGAL_GENERATION or REBALANCE_IN_PROGRESS: resolves with the identity of the next generation, or null when
   * the tasks have been lost.
   */
  identityAfter(refused: GroupMemberIdentity): Promise<GroupMemberIdentity | null>;
  /** A commit was refused with UNKNOWN_MEMBER_ID: who bore that identity is not in the group, whatever it waits for. */
  commitRefused(refused: GroupMemberIdentity): void;
  /** Whether the group still counts this member in; in doubt it asks the broker. */
  confirmSession(): Promise<SessionVerdict>;
  /** Topics, partition counts or the state on disk have changed. */
  requestRejoin(reason: string): void;
  /** Reads who is in the group (`onGroup`), as far as the group itself does not tell with each assignment. */
  refreshGroup(): Promise<void>;
}

/** Who is in the group. */
export interface GroupKnowledge {
  /** All members with their tasks, this one included. */
  readonly members: readonly AssignedMember[];
  /** Transactional ids of all members: the transaction of any other id of the application has lost its owner. */
  readonly liveTransactionalIds: readonly string[];
  /** The generation in which this was so. */
  readonly generation: number;
}
