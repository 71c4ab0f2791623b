/**
 * Every error that Millrace throws or reports, in one table: code → what happened in general and what to do.
 *
 * `MillraceError` carries the code, the concrete message, the cure from this table and the underlying `cause`.
 * `instanceof` works across realms (workers, jest) through a `Symbol.for` brand. Docs: docs/Reference/errors.md lists
 * the same codes; a test holds both together.
 */
export const errorTable = {
  MILL_CONFIG_INVALID: 'Correct the options that the message lists; docs/Reference/configuration.md has types and defaults.',
  MILL_TOPOLOGY_DUPLICATE_NAME: 'Give one of the two a different name.',
  MILL_TOPOLOGY_UNKNOWN_STORE: 'Add the store to the topology, or correct the name.',
  MILL_TOPOLOGY_STORE_NOT_CONNECTED: 'Name the store in the processor’s `stores` option.',
  MILL_TOPOLOGY_NOT_COPARTITIONED:
    'Repartition one side (`.repartition({ partitions })`) or create the topics with equal partition counts.',
  MILL_TOPOLOGY_NAME_REQUIRED: 'Give the operator a name in its options, or set `explicitNames` to "warn" or "off".',
  MILL_TOPOLOGY_MISMATCH:
    'Keep the names of what has not changed, or give the new topology another applicationId: docs/Guides/operations.md, “Rolling upgrades”.',
  MILL_TOPOLOGY_INVALID: 'Correct the topology as the message says.',
  MILL_BATCH_UNFINISHED: 'Run the topology that was built for batch mode to its end (`runUntilEnd`) first, or use another applicationId.',
  MILL_TOPIC_MISSING: 'Create the topic before the app starts, or correct its name.',
  MILL_TOPIC_INCOMPATIBLE: 'Delete the internal topic if its content may go, or use another applicationId.',
  MILL_BROKER_UNREACHABLE: 'Check bootstrapServers, the network, TLS and SASL settings.',
  MILL_BROKER_TOO_OLD: 'Use a broker of version 2.5 or newer.',
  MILL_BROKER_ERROR: 'See the broker’s error in the message; it is not one that a retry mends.',
  MILL_TRANSPORT: 'The connection to the broker broke; Millrace retries by itself.',
  MILL_AUTHORIZATION: 'Give the principal the ACLs that the message names.',
  MILL_CORRUPT_BATCH: 'The record batch does not match its checksum or is malformed: check the broker’s disks and the network.',
  MILL_CODEC_MISSING: 'Install the package that the message names to read or write this compression.',
  MILL_OFFSET_OUT_OF_RANGE: 'Set `autoOffsetReset` to "earliest" or "latest", or reset the group’s offsets.',
  MILL_TOPIC_RECREATED: 'Set `autoOffsetReset` to "earliest" or "latest", or reset the group’s offsets: they are of a topic that is gone.',
  MILL_RECORD_TOO_LARGE: 'Raise the topic’s max.message.bytes, or set a production handler that drops or dead-letters such records.',
  MILL_PRODUCER_FENCED: 'Another process took over this transactional id; this one aborts and rejoins by itself.',
  MILL_TRANSACTION_ABORTED: 'The epoch was aborted and is processed again by itself.',
  MILL_GROUP_FATAL: 'See the broker’s error in the message: the group refuses this member.',
  MILL_INSTANCE_FENCED: 'Give every instance a groupInstanceId of its own, and start one only when the one before has ended.',
  MILL_ASSIGNOR_INVALID: 'Mend the custom assignor: the message says what its answer must not have.',
  MILL_SERDE: 'Check that the serde fits the data, or have a handler let such records pass: docs/Guides/error-handling.md.',
  MILL_SERDE_REGISTRY: 'Check the schema registry’s address and that the subject exists.',
  MILL_DESERIALIZATION: 'Set `deserializationHandler` to "continue" or "deadLetter" to go on after undecodable records.',
  MILL_PROCESSING: 'Mend the user function that threw, or set `processingHandler` to "continue" or "deadLetter".',
  MILL_KEY_CHANGED: 'Use `process` in place of `processValues` for a processor that makes new keys.',
  MILL_LATE_RECORD: 'Give the operator a longer grace period if records come this late; the dead letter holds the record.',
  MILL_REVISION_CONFLICT: 'Find the second writer of this result, or the function that gives two results for one input: see the message.',
  MILL_RETRY: 'A handler wants the record tried again: the epoch went back to the last commit and is processed again by itself.',
  MILL_PRODUCTION: 'Set `productionHandler`, or mend what the message says of the output record.',
  MILL_INVALID_TIMESTAMP: 'Use a timestamp extractor that handles records without a valid timestamp.',
  MILL_STORE_WRONG_TYPE: 'Ask for the store by the kind it was built with.',
  MILL_STORE_READ_ONLY: 'Write to the topic of the global store: its own processor, or the table, takes the row from there.',
  MILL_STORE_CLOSED: 'Do not use a store, or an iterator of it, after its task was closed.',
  MILL_STORE_DIRECTORY_LOCKED: 'Another process uses this state directory: stop it, or give this one another `stateDir`.',
  MILL_STORE_CORRUPTED: 'The local store can’t be read; Millrace wipes it and restores it from its changelog.',
  MILL_STORE_IO: 'Check free space and rights of the state directory’s disk; nothing committed is lost, the changelog has it.',
  MILL_QUERY_INVALID: 'Correct the query as the message says.',
  MILL_QUERY_FORWARD: 'Ask again: the instance that has the data was not reached, or took too long. See its log and `applicationServer`.',
  MILL_PACKAGE_MISSING: 'Install the package that the message names.',
  MILL_STORE_NOT_AVAILABLE:
    'Ask again: the app is starting, or the group moves or restores the store. `standbys: "use"` reads what is there already.',
  MILL_STORE_NOT_LOCAL: 'Ask the instance that `metadataForKey` names, or go through the query server, which does.',
  MILL_STORE_NOT_UP_TO_BOUND: 'Ask again later: the store has not processed the records up to the position that the query asks for.',
  MILL_STORE_MIGRATED: 'Ask again: the store moved to another instance, or was opened anew, while it was read.',
  MILL_STORE_SNAPSHOT_LOST: 'Read scans faster, or in smaller ranges, and close those that are not read to their end.',
  MILL_BUFFER_FULL: 'Give `suppress` a larger buffer, or set `whenFull` to "emitEarly" or "spill".',
  MILL_APPLICATION_SHUTDOWN:
    'See the log of the instance that asked for it; its uncaught-error handler answered `shutdownApplication`. Start all again once the cause is mended.',
  MILL_THREAD_CRASHED:
    'Mend the user code that ended the thread; nothing committed is lost. The uncaught-error handler may answer `replaceThread`.',
  MILL_STATE_INVALID: 'Call the method in a state that allows it.',
  MILL_RESTARTS_EXHAUSTED:
    'Mend the cause: it came back after every restart. Or have a handler let the record pass; `restart` says how often the app tries.',
  MILL_CLOSE_TIMEOUT: 'Give `close` a longer timeout; work not committed is processed again by the next owner.',
  MILL_INVARIANT: 'This is a fault in Millrace: please report it with the message and the stack.',
} as const satisfies Record<string, string>;

/** The codes of `errorTable`. */
export type ErrorCode = keyof typeof errorTable;

const brand: unique symbol = Symbol.for('millrace.error') as never;

/** What an error carries besides code and message. */
export interface MillraceErrorOptions {
  /** The error below this one. */
  readonly cause?: unknown;
  /** Machine-readable facts: topic, partition, offset, node, brokerErrorCode, … */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Every error of Millrace. Tell them apart by `code`. */
export class MillraceError extends Error {
  /** Which error it is: one of the keys of `errorTable`. */
  readonly code: ErrorCode;
  /** What to do about it. */
  readonly cure: string;
  /** Machine-readable facts: topic, partition, offset, node, brokerErrorCode, … */
  readonly details: Readonly<Record<string, unknown>>;
  /** @internal */
  readonly [brand] = true;

  constructor(code: ErrorCode, message: string, options: MillraceErrorOptions = {}) {
    super(`${message} [${code}] ${errorTable[code]}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.cure = errorTable[code];
    this.details = options.details ?? {};
  }

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null || (value as { [brand]?: unknown })[brand] !== true) return false;
    if (this === MillraceError) return true;
    for (let proto: unknown = Object.getPrototypeOf(value); proto !== null; proto = Object.getPrototypeOf(proto)) {
      if ((proto as { constructor?: { name?: string } }).constructor?.name === this.name) return true;
    }
    return false;
  }
}

/** The connection broke or the request timed out: whether it was carried out is not known. */
export class KafkaTransportError extends MillraceError {
  constructor(message: string, options: MillraceErrorOptions = {}) {
    super('MILL_TRANSPORT', message, options);
  }
}
