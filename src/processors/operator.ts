/**
 * The engine's side of a processor: what a task wires together and calls for each record.
 *
 * A record travels as three arguments (key, value, timestamp); what else belongs to it (topic, partition, offset, headers) stands in
 * `OperatorContext.record` while the record is in the sub-topology. Everything is synchronous unless a user function returns a promise:
 * then `process` returns the promise, and nothing else of this task runs until it is settled.
 *
 * Implementations live one a file in this folder, do no I/O and know nothing of Kafka.
 */
import type { MillraceError } from '../errors.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Headers } from '../bytes/headers.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { StateStore } from '../stores/store.js';
import type { CallPort } from './async/call-attempts.js';
import type { Randomness } from './randomness.js';
import type { TakenRecord } from './taken-record.js';

/** Receives records. `K`/`V` may be null at run time: each operator states its null rule. */
export interface Downstream<K = unknown, V = unknown> {
  process(key: K, value: V, timestamp: number): MaybeAsync;
}

export interface Operator<K = unknown, V = unknown> extends Downstream<K, V> {
  /** True when `process` only looks whether the value is null: a source may then leave out decoding it. */
  readonly ignoresValue?: boolean;
  /**
   * True when it keeps something of the records it has taken that is in none of its stores. What fails in it may have changed half of that, so it is never called again
   * in place, but from the last commit, as an operator with stores.
   */
  readonly keepsRecords?: boolean;
  /** Called once, before any record, with the stores restored. */
  init(context: OperatorContext): void;
  /**
   * Step 2 of a barrier: emits what the operator holds back until the commit (`emit: 'onCommit'`), in topological order of the nodes.
   * Absent for operators that hold nothing back.
   */
  flush?(): MaybeAsync;
  /**
   * Event time has come to `watermark`; parents have emitted what follows from it. Absent for operators that do not look at event time. May work off what is
   * due in portions: while `hasDueTimers` is true it is called again.
   */
  onWatermark?(watermark: number): MaybeAsync;
  readonly hasDueTimers?: boolean;
  /**
   * The input has ended: emits what waits for a time that no record will bring any more. Parents have done so. What is open stays open, since a later run may go on.
   * Absent for operators that wait for nothing.
   */
  onEndOfInput?(): MaybeAsync;
  /** True when `onEndOfInput` has told a portion of what there is: it is called again, perhaps in a later epoch. */
  readonly hasMoreResults?: boolean;
  /** True for operators that keep results in a store until the end of the input: no other may go on in their place before. */
  readonly holdsResults?: boolean;
  /** Of operators that go on with a record after `process` has returned. */
  readonly unfinished?: UnfinishedWork;
  /** Called once when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}

/**
 * Records that an operator has taken and whose results have not left. The task asks between two records: it has what is ready sent on, takes nothing more while it
 * is full, and keeps time behind the oldest.
 */
export interface UnfinishedWork {
  readonly size: number;
  /** True while no more records may come. */
  readonly isFull: boolean;
  /** The record whose result can leave now; null when there is none. */
  readonly ready: { readonly key: unknown; readonly value: unknown; readonly timestamp: number; readonly record: TakenRecord } | null;
  /** The unfinished record that came first; null when there is none. */
  readonly oldest: TakenRecord | null;
  /** Goes on with what an earlier life of the task has left; called once the task runs. */
  begin(): void;
  /** Sends the result of `ready`, whose record it makes the one in work. Throws or rejects with what failed for good. */
  readonly results: Downstream;
}

/** Made anew for each task. */
export type OperatorSupplier = () => Operator<never, never>;

/**
 * What changes in a table: the engine's value type between table operators. `null` = absent. It says what row kinds of a changelog say (Flink's `RowKind`): a new value alone is +I, both are −U and +U, an
 * old value alone is −D.
 */
export class Change<V> {
  constructor(
    readonly newValue: V | null,
    readonly oldValue: V | null,
    /** False when an out-of-order row of a versioned table did not become the latest one. */
    readonly isLatest: boolean = true,
  ) {}
}

/** Where the current record came from. One mutable object a task; copy what is kept. */
export interface RecordContext {
  topic: string | null;
  partition: number;
  offset: number;
  timestamp: number;
  /** Read on demand: headers are decoded only when somebody asks. */
  headers(): Headers;
}

export interface OperatorContext {
  readonly applicationId: string;
  readonly taskId: string;
  readonly partition: number;
  readonly nodeName: string;
  /** Where the operator sends its results: one child, or a fan-out over several, or a no-op when it has none. */
  readonly downstream: Downstream;
  /** The child of that name, for operators that route (branch, Processor.forward to a child). Throws MILL_TOPOLOGY_INVALID for a stranger. */
  child(name: string): Downstream;
  readonly record: RecordContext;
  /** Runs `body` with other headers (and, for records born of a timer, no source) in `record`; restored after, also after a promise. */
  withHeaders(headers: Headers, body: () => MaybeAsync): MaybeAsync;
  /**
   * Runs `body` for a result that stands for several input records, none of which is the one in work. It has no headers, and there is nothing to skip it with: where it
   * can't be produced the task fails, whatever the handlers say.
   */
  forSeveralRecords(body: () => MaybeAsync): MaybeAsync;
  /** The store of that name, connected to this node, else MILL_TOPOLOGY_STORE_NOT_CONNECTED / MILL_TOPOLOGY_UNKNOWN_STORE. */
  store(name: string): StateStore;
  /** Whether that store is one of the instance's, which only its own processor may write to. */
  isGlobalStore?(name: string): boolean;
  /** A serde ready for use; null stands for the app's default of that part. For operators that need bytes. Throws MILL_CONFIG_INVALID when there is none. */
  serde<T>(serde: Serde<T> | null, part: 'key' | 'value'): CompiledSerde<T>;
  /** Highest record timestamp the task has processed, -1 before the first. */
  streamTime(): number;
  /** Event time of the task: the lowest watermark of its partitions, -Infinity before the first. */
  watermark(): number;
  /** Whether a source of the task has a watermark strategy. */
  readonly hasWatermarks: boolean;
  wallClock(): number;
  /** Absent: the process's own. */
  readonly randomness?: Randomness;
  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable;
  /** Has `close` called when the operator is closed: for what was opened beside it, such as getters of tables. */
  onClose(close: () => MaybeAsync): void;
  /** True while a barrier has operators emit what they held back (`Operator.flush`). Their results come in any order of time, and parents are done before children. */
  readonly isFlushing: boolean;
  /** Asks for a commit soon. */
  requestCommit(): void;
  /** Takes along what belongs to the record in work. */
  takeRecord(): TakenRecord;
  /** Makes it the record in work again. Only at a record boundary: from `UnfinishedWork.results`. */
  enterRecord(record: TakenRecord): void;
  /** Time for calls that go on outside the task. */
  readonly calls: CallPort;
  /**
   * Counts a record that the rules drop, and logs the first of a kind.
   *
   * @param records that it stands for. Default 1
   */
  dropped(reason: DropReason, records?: number): void;
  /** Whether the app has a dead-letter topic. */
  readonly hasDeadLetterTopic: boolean;
  /** Sends the input record in work to the dead-letter topic. `key` stands for it where there is none. */
  deadLetter(error: MillraceError, key: unknown): MaybeAsync;
  /** When results of aggregations go downstream, unless the operator has its own setting. */
  readonly defaultEmit: 'onUpdate' | 'onCommit';
  /** True when results may not be held back until the commit, whatever was asked for (see `ProcessorNode`). */
  readonly emitsAtOnce?: boolean;
}

/** Why a rule dropped a record. Each reason has a counter in the metrics of its task. */
export type DropReason =
  | 'null-key'
  | 'null-value'
  | 'late'
  | 'expired'
  | 'out-of-order'
  | 'stale-response'
  | 'null-repartition-key'
  | 'no-partition'
  | 'null-join-key'
  | 'null-foreign-key'
  | 'null-group-key'
  | 'negative-timestamp'
  | 'invalid-timestamp';

/** For `context.schedule`. */
export interface ScheduleOptions {
  /** Milliseconds. */
  readonly interval: number;
  /** `stream`: by stream time, which moves with records. `wallClock`: by the clock. */
  readonly time: 'stream' | 'wallClock';
  /** First firing, ms since the epoch (stream time or wall clock). Default: stream time fires on the first record, wall clock after one interval. */
  readonly startAt?: number;
}

/** What `context.schedule` gives. */
export interface Cancellable {
  /** No more calls. A second one does nothing. */
  cancel(): void;
}
