/**
 * Every error code of Kafka (as of 4.4) with its name, and what a transactional producer does when it meets one.
 *
 * The classes are those of the transaction state machine, which may decide otherwise for a particular request (a Produce that timed
 * out is in doubt, whatever its code); everybody else uses the names. A code that a newer broker invents is `fatal` and named by its number.
 */
export type ErrorTreatment =
  /** No error. */
  | 'none'
  /** The same request again, after a short pause and, for leader and coordinator errors, a fresh look-up. */
  | 'retry'
  /** Abort the transaction, get a new producer epoch, process the epoch again. */
  | 'abort'
  /** Another owner of the transactional id, or the transaction timeout, has ended this producer epoch. */
  | 'fenced'
  /** A retry can't mend it: the configuration, the permissions or the request is wrong. */
  | 'fatal';

export interface KafkaErrorCode {
  readonly code: number;
  readonly name: string;
  readonly treatment: ErrorTreatment;
}

const rows: readonly (readonly [code: number, name: string, treatment: ErrorTreatment])[] = [
  [-1, 'UNKNOWN_SERVER_ERROR', 'abort'],
  [0, 'NONE', 'none'],
  [1, 'OFFSET_OUT_OF_RANGE', 'fatal'],
  [2, 'CORRUPT_MESSAGE', 'retry'],
  [3, 'UNKNOWN_TOPIC_OR_PARTITION', 'retry'],
  [4, 'INVALID_FETCH_SIZE', 'fatal'],
  [5, 'LEADER_NOT_AVAILABLE', 'retry'],
  [6, 'NOT_LEADER_OR_FOLLOWER', 'retry'],
  [7, 'REQUEST_TIMED_OUT', 'retry'],
  [8, 'BROKER_NOT_AVAILABLE', 'retry'],
  [9, 'REPLICA_NOT_AVAILABLE', 'retry'],
  [10, 'MESSAGE_TOO_LARGE', 'fatal'],
  [11, 'STALE_CONTROLLER_EPOCH', 'fatal'],
  [12, 'OFFSET_METADATA_TOO_LARGE', 'fatal'],
  [13, 'NETWORK_EXCEPTION', 'retry'],
  [14, 'COORDINATOR_LOAD_IN_PROGRESS', 'retry'],
  [15, 'COORDINATOR_NOT_AVAILABLE', 'retry'],
  [16, 'NOT_COORDINATOR', 'retry'],
  [17, 'INVALID_TOPIC_EXCEPTION', 'fatal'],
  [18, 'RECORD_LIST_TOO_LARGE', 'fatal'],
  [19, 'NOT_ENOUGH_REPLICAS', 'retry'],
  [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'retry'],
  [21, 'INVALID_REQUIRED_ACKS', 'fatal'],
  [22, 'ILLEGAL_GENERATION', 'abort'],
  [23, 'INCONSISTENT_GROUP_PROTOCOL', 'fatal'],
  [24, 'INVALID_GROUP_ID', 'fatal'],
  [25, 'UNKNOWN_MEMBER_ID', 'abort'],
  [26, 'INVALID_SESSION_TIMEOUT', 'fatal'],
  [27, 'REBALANCE_IN_PROGRESS', 'abort'],
  [28, 'INVALID_COMMIT_OFFSET_SIZE', 'fatal'],
  [29, 'TOPIC_AUTHORIZATION_FAILED', 'fatal'],
  [30, 'GROUP_AUTHORIZATION_FAILED', 'fatal'],
  [31, 'CLUSTER_AUTHORIZATION_FAILED', 'fatal'],
  [32, 'INVALID_TIMESTAMP', 'fatal'],
  [33, 'UNSUPPORTED_SASL_MECHANISM', 'fatal'],
  [34, 'ILLEGAL_SASL_STATE', 'fatal'],
  [35, 'UNSUPPORTED_VERSION', 'fatal'],
  [36, 'TOPIC_ALREADY_EXISTS', 'fatal'],
  [37, 'INVALID_PARTITIONS', 'fatal'],
  [38, 'INVALID_REPLICATION_FACTOR', 'fatal'],
  [39, 'INVALID_REPLICA_ASSIGNMENT', 'fatal'],
  [40, 'INVALID_CONFIG', 'fatal'],
  [41, 'NOT_CONTROLLER', 'retry'],
  [42, 'INVALID_REQUEST', 'fatal'],
  [43, 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'fatal'],
  [44, 'POLICY_VIOLATION', 'fatal'],
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'abort'],
  [46, 'DUPLICATE_SEQUENCE_NUMBER', 'abort'],
  [47, 'INVALID_PRODUCER_EPOCH', 'fenced'],
  [48, 'INVALID_TXN_STATE', 'abort'],
  [49, 'INVALID_PRODUCER_ID_MAPPING', 'abort'],
  [50, 'INVALID_TRANSACTION_TIMEOUT', 'fatal'],
  [51, 'CONCURRENT_TRANSACTIONS', 'retry'],
  [52, 'TRANSACTION_COORDINATOR_FENCED', 'fenced'],
  [53, 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 'fatal'],
  [54, 'SECURITY_DISABLED', 'fatal'],
  [55, 'OPERATION_NOT_ATTEMPTED', 'abort'],
  [56, 'KAFKA_STORAGE_ERROR', 'retry'],
  [57, 'LOG_DIR_NOT_FOUND', 'fatal'],
  [58, 'SASL_AUTHENTICATION_FAILED', 'fatal'],
  [59, 'UNKNOWN_PRODUCER_ID', 'abort'],
  [60, 'REASSIGNMENT_IN_PROGRESS', 'fatal'],
  [61, 'DELEGATION_TOKEN_AUTH_DISABLED', 'fatal'],
  [62, 'DELEGATION_TOKEN_NOT_FOUND', 'fatal'],
  [63, 'DELEGATION_TOKEN_OWNER_MISMATCH', 'fatal'],
  [64, 'DELEGATION_TOKEN_REQUEST_NOT_ALLOWED', 'fatal'],
  [65, 'DELEGATION_TOKEN_AUTHORIZATION_FAILED', 'fatal'],
  [66, 'DELEGATION_TOKEN_EXPIRED', 'fatal'],
  [67, 'INVALID_PRINCIPAL_TYPE', 'fatal'],
  [68, 'NON_EMPTY_GROUP', 'fatal'],
  [69, 'GROUP_ID_NOT_FOUND', 'fatal'],
  [70, 'FETCH_SESSION_ID_NOT_FOUND', 'retry'],
  [71, 'INVALID_FETCH_SESSION_EPOCH', 'retry'],
  [72, 'LISTENER_NOT_FOUND', 'retry'],
  [73, 'TOPIC_DELETION_DISABLED', 'fatal'],
  [74, 'FENCED_LEADER_EPOCH', 'retry'],
  [75, 'UNKNOWN_LEADER_EPOCH', 'retry'],
  [76, 'UNSUPPORTED_COMPRESSION_TYPE', 'fatal'],
  [77, 'STALE_BROKER_EPOCH', 'fatal'],
  [78, 'OFFSET_NOT_AVAILABLE', 'retry'],
  [79, 'MEMBER_ID_REQUIRED', 'retry'],
  [80, 'PREFERRED_LEADER_NOT_AVAILABLE', 'retry'],
  [81, 'GROUP_MAX_SIZE_REACHED', 'fatal'],
  [82, 'FENCED_INSTANCE_ID', 'abort'],
  [83, 'ELIGIBLE_LEADERS_NOT_AVAILABLE', 'retry'],
  [84, 'ELECTION_NOT_NEEDED', 'retry'],
  [85, 'NO_REASSIGNMENT_IN_PROGRESS', 'fatal'],
  [86, 'GROUP_SUBSCRIBED_TO_TOPIC', 'fatal'],
  [87, 'INVALID_RECORD', 'fatal'],
  [88, 'UNSTABLE_OFFSET_COMMIT', 'retry'],
  [89, 'THROTTLING_QUOTA_EXCEEDED', 'retry'],
  [90, 'PRODUCER_FENCED', 'fenced'],
  [91, 'RESOURCE_NOT_FOUND', 'fatal'],
  [92, 'DUPLICATE_RESOURCE', 'fatal'],
  [93, 'UNACCEPTABLE_CREDENTIAL', 'fatal'],
  [94, 'INCONSISTENT_VOTER_SET', 'fatal'],
  [95, 'INVALID_UPDATE_VERSION', 'fatal'],
  [96, 'FEATURE_UPDATE_FAILED', 'fatal'],
  [97, 'PRINCIPAL_DESERIALIZATION_FAILURE', 'fatal'],
  [98, 'SNAPSHOT_NOT_FOUND', 'fatal'],
  [99, 'POSITION_OUT_OF_RANGE', 'fatal'],
  [100, 'UNKNOWN_TOPIC_ID', 'retry'],
  [101, 'DUPLICATE_BROKER_REGISTRATION', 'fatal'],
  [102, 'BROKER_ID_NOT_REGISTERED', 'fatal'],
  [103, 'INCONSISTENT_TOPIC_ID', 'retry'],
  [104, 'INCONSISTENT_CLUSTER_ID', 'fatal'],
  [105, 'TRANSACTIONAL_ID_NOT_FOUND', 'abort'],
  [106, 'FETCH_SESSION_TOPIC_ID_ERROR', 'retry'],
  [107, 'INELIGIBLE_REPLICA', 'fatal'],
  [108, 'NEW_LEADER_ELECTED', 'fatal'],
  [109, 'OFFSET_MOVED_TO_TIERED_STORAGE', 'fatal'],
  [110, 'FENCED_MEMBER_EPOCH', 'abort'],
  [111, 'UNRELEASED_INSTANCE_ID', 'fatal'],
  [112, 'UNSUPPORTED_ASSIGNOR', 'fatal'],
  [113, 'STALE_MEMBER_EPOCH', 'abort'],
  [114, 'MISMATCHED_ENDPOINT_TYPE', 'fatal'],
  [115, 'UNSUPPORTED_ENDPOINT_TYPE', 'fatal'],
  [116, 'UNKNOWN_CONTROLLER_ID', 'fatal'],
  [117, 'UNKNOWN_SUBSCRIPTION_ID', 'fatal'],
  [118, 'TELEMETRY_TOO_LARGE', 'fatal'],
  [119, 'INVALID_REGISTRATION', 'fatal'],
  [120, 'TRANSACTION_ABORTABLE', 'abort'],
  [121, 'INVALID_RECORD_STATE', 'fatal'],
  [122, 'SHARE_SESSION_NOT_FOUND', 'retry'],
  [123, 'INVALID_SHARE_SESSION_EPOCH', 'retry'],
  [124, 'FENCED_STATE_EPOCH', 'fatal'],
  [125, 'INVALID_VOTER_KEY', 'fatal'],
  [126, 'DUPLICATE_VOTER', 'fatal'],
  [127, 'VOTER_NOT_FOUND', 'fatal'],
  [128, 'INVALID_REGULAR_EXPRESSION', 'fatal'],
  [129, 'REBOOTSTRAP_REQUIRED', 'retry'],
  [130, 'STREAMS_INVALID_TOPOLOGY', 'fatal'],
  [131, 'STREAMS_INVALID_TOPOLOGY_EPOCH', 'fatal'],
  [132, 'STREAMS_TOPOLOGY_FENCED', 'fatal'],
  [133, 'SHARE_SESSION_LIMIT_REACHED', 'retry'],
  [134, 'GROUP_DELETION_FAILED', 'fatal'],
  [135, 'STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED', 'fatal'],
  [136, 'CONTROLLER_ID_NOT_REGISTERED', 'fatal'],
];

export const kafkaErrorCodes: readonly KafkaErrorCode[] = rows.map(([code, name, treatment]) => ({ code, name, treatment }));

const byCode = new Map(kafkaErrorCodes.map((row) => [row.code, row]));

/** `UNKNOWN_TOPIC_OR_PARTITION (3)` reads better in a message than the number alone: this is its first half. */
export function errorName(code: number): string {
  return byCode.get(code)?.name ?? `UNKNOWN_ERROR_CODE_${code}`;
}

export function errorTreatment(code: number): ErrorTreatment {
  return byCode.get(code)?.treatment ?? 'fatal';
}

/** The codes that the rest of Millrace compares with, by name. */
export const ErrorCodes = {
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  CORRUPT_MESSAGE: 2,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER_OR_FOLLOWER: 6,
  REQUEST_TIMED_OUT: 7,
  REPLICA_NOT_AVAILABLE: 9,
  MESSAGE_TOO_LARGE: 10,
  COORDINATOR_LOAD_IN_PROGRESS: 14,
  COORDINATOR_NOT_AVAILABLE: 15,
  NOT_COORDINATOR: 16,
  ILLEGAL_GENERATION: 22,
  INCONSISTENT_GROUP_PROTOCOL: 23,
  UNKNOWN_MEMBER_ID: 25,
  REBALANCE_IN_PROGRESS: 27,
  TOPIC_AUTHORIZATION_FAILED: 29,
  GROUP_AUTHORIZATION_FAILED: 30,
  CLUSTER_AUTHORIZATION_FAILED: 31,
  UNSUPPORTED_VERSION: 35,
  TOPIC_ALREADY_EXISTS: 36,
  NOT_CONTROLLER: 41,
  OUT_OF_ORDER_SEQUENCE_NUMBER: 45,
  DUPLICATE_SEQUENCE_NUMBER: 46,
  INVALID_PRODUCER_EPOCH: 47,
  INVALID_TXN_STATE: 48,
  INVALID_PRODUCER_ID_MAPPING: 49,
  CONCURRENT_TRANSACTIONS: 51,
  TRANSACTION_COORDINATOR_FENCED: 52,
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 53,
  KAFKA_STORAGE_ERROR: 56,
  UNKNOWN_PRODUCER_ID: 59,
  DELEGATION_TOKEN_AUTHORIZATION_FAILED: 65,
  GROUP_ID_NOT_FOUND: 69,
  FENCED_LEADER_EPOCH: 74,
  UNKNOWN_LEADER_EPOCH: 75,
  OFFSET_NOT_AVAILABLE: 78,
  MEMBER_ID_REQUIRED: 79,
  FENCED_INSTANCE_ID: 82,
  UNSTABLE_OFFSET_COMMIT: 88,
  PRODUCER_FENCED: 90,
  UNKNOWN_TOPIC_ID: 100,
  INCONSISTENT_TOPIC_ID: 103,
  TRANSACTION_ABORTABLE: 120,
} as const;

const authorizationCodes: ReadonlySet<number> = new Set([
  ErrorCodes.TOPIC_AUTHORIZATION_FAILED,
  ErrorCodes.GROUP_AUTHORIZATION_FAILED,
  ErrorCodes.CLUSTER_AUTHORIZATION_FAILED,
  ErrorCodes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
  ErrorCodes.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
]);

export function isAuthorizationError(code: number): boolean {
  return authorizationCodes.has(code);
}
