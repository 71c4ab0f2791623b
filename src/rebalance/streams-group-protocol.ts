/** The vocabulary of a streams group's member (KIP-1071): what its state machine is told, and what it asks for. */
import type { StreamsGroupHeartbeatResponse, StreamsGroupStatus } from '../kafka/streams-groups.js';
import type { GroupPhase, GroupRequest } from './group-protocol.js';
import type { TaskId } from './task-id.js';

/** Tasks of a member by their role. */
export interface StreamsTaskSets {
  readonly active: readonly TaskId[];
  readonly standby: readonly TaskId[];
  readonly warmup: readonly TaskId[];
}

export const noTasks: StreamsTaskSets = Object.freeze({ active: [], standby: [], warmup: [] });

/** A heartbeat's answer, with tasks as the rest of the library has them. */
export interface StreamsHeartbeatAnswer extends Pick<
  StreamsGroupHeartbeatResponse,
  'errorCode' | 'errorMessage' | 'memberEpoch' | 'statuses'
> {
  readonly heartbeatIntervalMs: number;
  /** null: as before. */
  readonly assignment: StreamsTaskSets | null;
}

/** What the group's description says of this member. */
export interface OwnPlace {
  readonly memberEpoch: number;
  readonly assignment: StreamsTaskSets;
  /** It has all that it is to have. */
  readonly isSettled: boolean;
}

export type StreamsGroupEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'coordinatorFound'; readonly attempt: number; readonly broker: number }
  | { readonly kind: 'heartbeatAnswered'; readonly attempt: number; readonly answer: StreamsHeartbeatAnswer }
  /** `own` null: the group does not have this member. `groupSettled`: nobody waits for anybody. */
  | { readonly kind: 'described'; readonly attempt: number; readonly own: OwnPlace | null; readonly groupSettled: boolean }
  /** The answer will not come. */
  | { readonly kind: 'transportFailed'; readonly attempt: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'revocationDone'; readonly revocation: number }
  /** Say and ask now what would be said and asked at the next heartbeat. */
  | { readonly kind: 'hurry' }
  | { readonly kind: 'leaveRequested'; readonly leaveGroup: boolean | null }
  | { readonly kind: 'gaveUp' };

export type StreamsGroupCommand =
  | { readonly kind: 'findCoordinator'; readonly attempt: number; readonly refresh: boolean }
  /** With epoch 0 and the topology. */
  | { readonly kind: 'join'; readonly attempt: number; readonly broker: number }
  /** Under `epoch`; `owned` null: as said before. */
  | {
      readonly kind: 'heartbeat';
      readonly attempt: number;
      readonly broker: number;
      readonly epoch: number;
      readonly owned: StreamsTaskSets | null;
    }
  /** Epoch -1 or -2. */
  | { readonly kind: 'leave'; readonly attempt: number; readonly broker: number; readonly epoch: number }
  | { readonly kind: 'describe'; readonly attempt: number }
  /** Commit, stop running these tasks, then answer `revocationDone`. */
  | { readonly kind: 'revoke'; readonly revocation: number; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'assigned'; readonly assignment: StreamsTaskSets; readonly added: readonly TaskId[]; readonly epoch: number }
  /** Stop running these tasks at once, without a commit. */
  | { readonly kind: 'lost'; readonly tasks: readonly TaskId[] }
  /** What the group lacks, when that has changed. */
  | { readonly kind: 'statusChanged'; readonly statuses: readonly StreamsGroupStatus[] }
  /** The group can't work, and has not mended itself in time. */
  | { readonly kind: 'unworkable'; readonly status: StreamsGroupStatus }
  | { readonly kind: 'waiting'; readonly phase: GroupPhase; readonly forMs: number }
  | { readonly kind: 'retrying'; readonly request: GroupRequest; readonly errorCode: number | null; readonly inMs: number }
  | { readonly kind: 'fatal'; readonly errorCode: number; readonly message: string | null }
  | { readonly kind: 'left' }
  | { readonly kind: 'schedule'; readonly at: number | null };
