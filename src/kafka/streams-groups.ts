/**
 * Streams groups (KIP-1071), as the client port speaks of them: the broker knows the topology and decides which member runs which task.
 */

/** Tasks of one sub-topology. */
export interface StreamsTasks {
  readonly subTopology: string;
  readonly partitions: readonly number[];
}

/** What a member runs or keeps a copy of. */
export interface StreamsAssignment {
  readonly active: readonly StreamsTasks[];
  readonly standby: readonly StreamsTasks[];
  readonly warmup: readonly StreamsTasks[];
}

/** What the broker has to know of a topology: topics under their full names. */
export interface StreamsGroupTopology {
  readonly epoch: number;
  readonly subTopologies: readonly StreamsGroupSubTopology[];
}

export interface StreamsGroupSubTopology {
  readonly id: string;
  /** The users' topics that it reads. */
  readonly sourceTopics: readonly string[];
  readonly repartitionSinkTopics: readonly string[];
  readonly repartitionSourceTopics: readonly StreamsInternalTopic[];
  readonly changelogTopics: readonly StreamsInternalTopic[];
  /** Names of source topics, the users' and internal ones, that must have equal partition counts. */
  readonly copartitionGroups: readonly (readonly string[])[];
}

/** A topic that the broker creates when it is missing. */
export interface StreamsInternalTopic {
  readonly name: string;
  /** 0: as many as follow from the sources. */
  readonly partitions: number;
  /** 0: the broker's default. */
  readonly replicationFactor: number;
  readonly configs: Readonly<Record<string, string>>;
}

export interface StreamsEndpoint {
  readonly host: string;
  readonly port: number;
}

export interface StreamsGroupHeartbeatRequest {
  readonly groupId: string;
  /** Chosen by the member. */
  readonly memberId: string;
  /** 0: joins; -1: leaves; -2: leaves its place to the next that comes with `groupInstanceId`. */
  readonly memberEpoch: number;
  /** Last one that an answer told; -1 for none. */
  readonly endpointEpoch: number;
  readonly groupInstanceId: string | null;
  /** Sent when joining; else null. */
  readonly joining: StreamsGroupJoin | null;
  /** null: as in the last heartbeat. */
  readonly owned: StreamsAssignment | null;
  /** Every member is to stop. */
  readonly shutdown: boolean;
}

export interface StreamsGroupJoin {
  readonly topology: StreamsGroupTopology;
  readonly rebalanceTimeoutMs: number;
  readonly rackId: string | null;
  readonly processId: string;
  readonly endpoint: StreamsEndpoint | null;
  readonly tags: Readonly<Record<string, string>>;
}

export interface StreamsGroupHeartbeatResponse {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  readonly endpointEpoch: number;
  readonly statuses: readonly StreamsGroupStatus[];
  /** null: as before. */
  readonly assignment: StreamsAssignment | null;
}

/** Why the group can't work as it should: `code` is one of `StreamsStatus`. */
export interface StreamsGroupStatus {
  readonly code: number;
  readonly detail: string;
}

export const StreamsStatus = {
  STALE_TOPOLOGY: 0,
  MISSING_SOURCE_TOPICS: 1,
  INCORRECTLY_PARTITIONED_TOPICS: 2,
  MISSING_INTERNAL_TOPICS: 3,
  SHUTDOWN_APPLICATION: 4,
  ASSIGNMENT_DELAYED: 5,
  MISSING_CLIENT_TAGS: 6,
} as const;

export interface StreamsGroupDescription {
  /** `Empty`, `NotReady`, `Assigning`, `Reconciling`, `Stable` or `Dead`. */
  readonly state: string;
  readonly groupEpoch: number;
  readonly members: readonly StreamsGroupMemberDescription[];
}

export interface StreamsGroupMemberDescription {
  readonly memberId: string;
  readonly memberEpoch: number;
  readonly groupInstanceId: string | null;
  readonly processId: string;
  readonly endpoint: StreamsEndpoint | null;
  readonly tags: Readonly<Record<string, string>>;
  /** What the member has been given. */
  readonly assignment: StreamsAssignment;
  /** What it is to have once others have let go. */
  readonly target: StreamsAssignment;
}
