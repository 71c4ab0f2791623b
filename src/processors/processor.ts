/** The public Processor API (Kafka Streams' `Processor`, `FixedKeyProcessor`). */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Headers } from '../bytes/headers.js';
import type { Cancellable, ScheduleOptions } from './operator.js';
import type { StateStore, StoreKind } from '../stores/store.js';
import type { OperatorStateAccess } from './operator-state/operator-list-state.js';

/** A record as a processor gets it. Key and value are null at run time where the topic has null keys or tombstones. */
export interface Record<K, V> {
  readonly key: K;
  readonly value: V;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly headers: Headers;
}

/** Where a record was read. Absent (null) in punctuations. */
export interface RecordMetadata {
  readonly topic: string;
  readonly partition: number;
  /** In its partition, from 0. */
  readonly offset: number;
}

/** What every processor is given, whatever it may forward. Each task has its own. */
export interface ProcessingContext {
  /** The app's. */
  readonly applicationId: string;
  /** Sub-topology and partition: `0_3`. */
  readonly taskId: string;
  readonly partition: number;
  /**
   * The store of that name, as it was built. Global stores are read only here: each instance has one of its own, which follows its topic.
   *
   * @param kind what it must be, so that another kind is an error at once and not at the first call of a method that it lacks. Default: any
   * @throws MILL_TOPOLOGY_STORE_NOT_CONNECTED, MILL_TOPOLOGY_UNKNOWN_STORE; MILL_STORE_WRONG_TYPE when it is not of `kind`; later MILL_STORE_READ_ONLY when a global store is
   * written to
   */
  store<S extends StateStore = StateStore>(name: string, kind?: StoreKind): S;
  /**
   * Has `callback` called again and again, with the time that was reached, until it is cancelled or the task is closed. Missed intervals are not made up for.
   *
   * @throws MILL_CONFIG_INVALID unless `interval` is a whole number of at least 1 ms, `time` is `stream` or `wallClock`, `startAt`, if given, is a whole number of at least 0, and
   * there is no other option
   */
  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable;
  /** Where the record in work was read; null in timers. */
  recordMetadata(): RecordMetadata | null;
  /** Highest timestamp that the task has processed, ms since the epoch; -1 before the first record. */
  streamTime(): number;
  /** ms since the epoch. In tests the clock of the driver: read this one, not `Date.now()`. */
  wallClock(): number;
  /**
   * As `wallClock`, beside `random` and `uuid`: what is not the same when a record is processed again. An epoch that is lost is processed anew from its beginning, and gets other answers;
   * what was made of the old ones, state and output, is aborted with it. So what is committed agrees on one answer each. With `at_least_once` the output of both may be seen.
   */
  now(): number;
  /** A number in [0, 1), like `Math.random`; in tests that of the driver's `seed`. As repeatable as `now`. */
  random(): number;
  /** A version 4 UUID; in tests it comes from the driver's `seed`. As repeatable as `now`: for an id that is the same again, take topic, partition and offset of the record. */
  uuid(): string;
  /** Asks for a commit soon; it happens at the next barrier. */
  commit(): void;
}

/** What a processor can do. */
export interface ProcessorContext<KOut, VOut> extends ProcessingContext, OperatorStateAccess {
  /**
   * Sends a record to all children, or to the child of that name. `timestamp` (whole ms since the epoch) and `headers` are those of the record in work when left out.
   *
   * @throws TypeError for a key or value that is missing or undefined (null is one), and for headers whose values are neither bytes nor null: it fails the record, like an error of the
   * processor; MILL_INVALID_TIMESTAMP
   */
  forward(
    record: { readonly key: KOut; readonly value: VOut; readonly timestamp?: number; readonly headers?: Headers },
    child?: string,
  ): MaybeAsync;
}

/**
 * A step of your own. The supplier gives a new one to each task; what must survive a crash or a move lies in stores.
 *
 * @example
 * class Shout implements Processor<string, string, string, string> {
 *   init(context: ProcessorContext<string, string>) { this.context = context; }
 *   process({ key, value }: Record<string, string>) { return this.context.forward({ key, value: `${value}!` }); }
 * }
 */
export interface Processor<KIn, VIn, KOut = never, VOut = never> {
  /** Called once, before any record, with the stores restored. Get stores and set timers here. It may give no promise: MILL_STATE_INVALID. */
  init?(context: ProcessorContext<KOut, VOut>): void;
  /** Called for each record, one at a time. When it returns a promise, the task waits for it. */
  process(record: Record<KIn, VIn>): MaybeAsync;
  /** Called once, when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}

declare const fixedKey: unique symbol;

/** A key that a record brought: it is a `K`, but no other `K` stands for it, so a processor can't make one. */
export type FixedKey<K> = K & { readonly [fixedKey]: true };

/** A record whose key stays as it is (Kafka Streams' `FixedKeyRecord`). */
export interface FixedKeyRecord<K, V> extends Record<K, V> {
  readonly key: FixedKey<K>;
}

/** What a processor that keeps the key can do. */
export interface FixedKeyProcessorContext<K, VOut> extends ProcessingContext, OperatorStateAccess {
  /**
   * Sends a value under the key of the record in work to all children, or to the child of that name. In a timer there is no such record: there `key` must be that of a record
   * kept from before.
   *
   * @throws MILL_KEY_CHANGED when `key` is another one, or a timer names none; else as `ProcessorContext.forward`
   */
  forward(
    record: { readonly key?: FixedKey<K>; readonly value: VOut; readonly timestamp?: number; readonly headers?: Headers },
    child?: string,
  ): MaybeAsync;
}

/** A processor that can't change keys, so that what it forwards needs no repartition (Kafka Streams' `FixedKeyProcessor`). */
export interface FixedKeyProcessor<K, VIn, VOut = never> {
  /** As that of `Processor`. */
  init?(context: FixedKeyProcessorContext<K, VOut>): void;
  /** As that of `Processor`. */
  process(record: FixedKeyRecord<K, VIn>): MaybeAsync;
  /** As that of `Processor`. */
  close?(): MaybeAsync;
}
