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
   * @throws MILL_STATE_INVALID when no source of the task has watermarks
   */
  registerEventTimer(time: number): void;
  /** Fires when the wall clock reaches `time`. */
  registerProcessingTimer(time: number): void;
  deleteEventTimer(time: number): void;
  deleteProcessingTimer(time: number): void;
}

export interface FiredTimer<K> {
  readonly kind: TimerKind;
  readonly key: K;
  /** ms: what it was registered for. Records forwarded from an event-time timer have this timestamp. */
  readonly time: number;
}

export interface KeyedProcessorContext<K, KOut, VOut> extends ProcessorContext<KOut, VOut>, StateAccess {
  readonly timers: KeyTimers;
  /** Key of the record or timer in work: the one whose state is seen. */
  currentKey(): K;
  /** ms; -Infinity before the first. */
  watermark(): number;
}

export interface KeyedProcessor<K, V, KOut = never, VOut = never> {
  /** Ask for states here and keep the handles: they always show the current key's. */
  init?(context: KeyedProcessorContext<K, KOut, VOut>): void;
  process(record: Record<K, V>): MaybeAsync;
  onTimer?(timer: FiredTimer<K>): MaybeAsync;
  close?(): MaybeAsync;
}
