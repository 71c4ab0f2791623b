/**
 * The vocabulary of the group member's state machine: what it is told and what it asks for.
 *
 * Every request carries an `attempt` number and its answer brings it back, so that the machine can tell an answer it still waits for from
 * one that a loss or a new join has overtaken.
 */
import type { MemberAssignment } from './member-assignment.js';
import type { TaskId } from './task-id.js';

/** What a member of the group does. */
export type GroupPhase =
  /** Not started. */
  | 'idle'
  /** Looking for the coordinator, or pausing before the next attempt to join. */
  | 'finding'
  /** JoinGroup is on its way; tasks owned before go on running. */
  | 'joining'
  /** This member leads and its application computes the assignment. */
  | 'assigning'
  /** SyncGroup is on its way. */
  | 'syncing'
  | 'stable'
  /** The application gives up tasks; a rejoin follows. */
  | 'revoking'
  /** The application gives up everything; LeaveGroup follows. */
  | 'leaving'
  | 'left'
  | 'failed';

/** What members of both protocols are told. */
export type MemberEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'coordinatorFound'; readonly attempt: number; readonly broker: number }
  /** The answer to a request will not come, or the leader's assignment could not be computed for now. */
  | { readonly kind: 'transportFailed'; readonly attempt: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'revocationDone'; readonly revocation: number }
  /** `leaveGroup` false: the broker keeps the member until its session ends; null: as static members do or not. */
  /** `handoverMs`: how long it may go on until the others have heard of it; absent: as long as is the rule. */
  | { readonly kind: 'leaveRequested'; readonly leaveGroup: boolean | null; readonly handoverMs?: number }
  /** The member can't go on, for a reason that its driver knows and reports itself. */
  | { readonly kind: 'gaveUp' };

export type GroupEvent =
  | MemberEvent
  | { readonly kind: 'joinAnswered'; readonly attempt: number; readonly answer: JoinAnswer }
  | { readonly kind: 'assignmentsReady'; readonly attempt: number; readonly assignments: readonly EncodedAssignment[] }
  | { readonly kind: 'syncAnswered'; readonly attempt: number; readonly errorCode: number; readonly assignment: MemberAssignment | null }
  | { readonly kind: 'heartbeatAnswered'; readonly attempt: number; readonly errorCode: number }
  | { readonly kind: 'leaveAnswered'; readonly attempt: number; readonly errorCode: number }
  /** Something the others should know has changed: topics, state on disk, partition counts. */
  | { readonly kind: 'rejoinRequested' }
  /** The caller is about to commit: has the session run out? */
  | { readonly kind: 'sessionChecked' }
  /** A commit was refused: ask the coordinator now instead of at the next heartbeat. */
  | { readonly kind: 'membershipDoubted' }
  /** The coordinator has refused a commit since it knows no such member. A join on its way is waited for all the same: its answer names the next one. */
  | { readonly kind: 'memberForgotten'; readonly memberId: string };

export interface JoinAnswer {
  readonly errorCode: number;
  readonly generation: number;
  readonly memberId: string;
  readonly leader: string;
  readonly protocolName: string | null;
}

export interface EncodedAssignment {
  readonly memberId: string;
  readonly assignment: Buffer;
}

/** What both protocols' machines ask for. */
export type MemberCommand =
  | { readonly kind: 'findCoordinator'; readonly attempt: number; readonly refresh: boolean }
  /** Commit, stop running these tasks, then answer `revocationDone`. */
  | { readonly kind: 'revoke'; readonly revocation: number; readonly tasks: readonly TaskId[] }
  /** Stop running these tasks at once, without a commit: another member may run them by now. */
  | { readonly kind: 'lost'; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'waiting'; readonly phase: GroupPhase; readonly forMs: number }
  | { readonly kind: 'retrying'; readonly request: GroupRequest; readonly errorCode: number | null; readonly inMs: number }
  | { readonly kind: 'left' }
  /** Send `tick` at this time; replaces the one asked for before. null: no need. */
  | { readonly kind: 'schedule'; readonly at: number | null };

/** What only a classic group's member does. */
export type ClassicCommand =
  | { readonly kind: 'join'; readonly attempt: number; readonly broker: number; readonly memberId: string; readonly claim: OwnershipClaim }
  | { readonly kind: 'assign'; readonly attempt: number; readonly generation: number }
  | {
      readonly kind: 'sync';
      readonly attempt: number;
      readonly broker: number;
      readonly protocolName: string;
      readonly assignments: readonly EncodedAssignment[];
    }
  | { readonly kind: 'heartbeat'; readonly attempt: number; readonly broker: number }
  | { readonly kind: 'leave'; readonly attempt: number; readonly broker: number; readonly memberId: string }
  /** Keep this id: a restart that presents it takes the member's place at once. */
  | { readonly kind: 'memberIdChanged'; readonly memberId: string }
  | { readonly kind: 'assigned'; readonly assignment: MemberAssignment; readonly added: readonly TaskId[]; readonly generation: number }
  | { readonly kind: 'fatal'; readonly request: GroupRequest; readonly errorCode: number };

export type GroupCommand = MemberCommand | ClassicCommand;

export type GroupRequest =
  'FindCoordinator' | 'JoinGroup' | 'SyncGroup' | 'Heartbeat' | 'LeaveGroup' | 'StreamsGroupHeartbeat' | 'StreamsGroupDescribe';

/** What a join says of the past: the tasks that go on running meanwhile and the generation that assigned them. */
export interface OwnershipClaim {
  readonly tasks: readonly TaskId[];
  readonly generation: number;
  /** Counts the rebalances that this member wanted; makes the metadata differ, since the broker skips a rebalance for equal metadata. */
  readonly wish: number;
  /** The member is to get nothing any more: it goes when it has given up what it has. */
  readonly isLeaving: boolean;
}

export interface GroupMachineConfig {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly rebalanceTimeoutMs: number;
  /** A static member's id (KIP-345): it stays in the group when it stops, unless it is told to leave. */
  readonly groupInstanceId: string | null;
  /** Id of this process's member before a restart, or empty: presented at the first join, so that the broker puts this one in its place. */
  readonly previousMemberId: string;
  /** In [0, 1): jitter of the pauses between attempts. */
  readonly random: () => number;
}
