/** The vocabulary of a streams group's member (KIP-1071): what its state machine is told, and what it asks for. */
import type { StreamsGroupHeartbeatResponse, StreamsGroupStatus } from '../kafka/streams-groups.js';
import type { MemberCommand, MemberEvent } from './group-protocol.js';
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
  | MemberEvent
  | { readonly kind: 'heartbeatAnswered'; readonly attempt: number; readonly answer: StreamsHeartbeatAnswer }
  /** `own` null: the group does not have this member. `groupSettled`: nobody waits for anybody. */
  | { readonly kind: 'described'; readonly attempt: number; readonly own: OwnPlace | null; readonly groupSettled: boolean }
  /** Say and ask now what would be said and asked at the next heartbeat. */
  | { readonly kind: 'hurry' };

/** What only a streams group's member does. */
export type StreamsCommand =
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
  | { readonly kind: 'assigned'; readonly assignment: StreamsTaskSets; readonly added: readonly TaskId[]; readonly epoch: number }
  /** What the group lacks, when that has changed. */
  | { readonly kind: 'statusChanged'; readonly statuses: readonly StreamsGroupStatus[] }
  /** The group can't work, and has not mended itself in time. */
  | { readonly kind: 'unworkable'; readonly status: StreamsGroupStatus }
  | { readonly kind: 'fatal'; readonly errorCode: number; readonly message: string | null };

export type StreamsGroupCommand = MemberCommand | StreamsCommand;
