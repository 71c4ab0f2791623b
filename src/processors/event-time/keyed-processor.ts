/** The public API of processors with keyed state and timers (Flink's KeyedProcessFunction). */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { ProcessorContext, Record } from '../processor.js';
import type { StateAccess } from '../state/keyed-states.js';
import type { TimerKind } from '../timers/timer-service.js';

/** Timers of the current key. A set: the same time twice fires once. They are stored with the state. */
export interface KeyTimers {
  /**
   * Fires when the watermark reaches `time`, ms since the epoch; at or below the current watermark, with the next watermark.
   *
   * @throws MILL_STATE_INVALID when no source of the task has watermarks; a TypeError, which is the record's failure, when `time` is no number
   */
  registerEventTimer(time: number): void;
  /** Fires when the wall clock reaches `time`. @throws TypeError when `time` is no number */
  registerProcessingTimer(time: number): void;
  /** Does nothing when there is none. */
  deleteEventTimer(time: number): void;
  /** Does nothing when there is none. */
  deleteProcessingTimer(time: number): void;
}

/** A timer whose time has come. */
export interface FiredTimer<K> {
  readonly kind: TimerKind;
  readonly key: K;
  /** ms: what it was registered for. Records forwarded from an event-time timer have this timestamp, but none before 0. */
  readonly time: number;
}

export interface KeyedProcessorContext<K, KOut, VOut> extends ProcessorContext<KOut, VOut>, StateAccess {
  /** Of the current key. */
  readonly timers: KeyTimers;
  /** Key of the record or timer in work: the one whose state is seen. */
  currentKey(): K;
  /** ms; -Infinity before the first. */
  watermark(): number;
}

/** A step of your own with state and timers of the record's key (Flink's KeyedProcessFunction). */
export interface KeyedProcessor<K, V, KOut = never, VOut = never> {
  /** Ask for states here and keep the handles: they always show the current key's. */
  init?(context: KeyedProcessorContext<K, KOut, VOut>): void;
  /** Called for each record, one at a time. When it returns a promise, the task waits for it. */
  process(record: Record<K, V>): MaybeAsync;
  /** Called for each timer that fires, with the state of its key. */
  onTimer?(timer: FiredTimer<K>): MaybeAsync;
  /** Called once, when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}
