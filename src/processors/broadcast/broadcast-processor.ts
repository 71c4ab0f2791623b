/** The public API of processors that take broadcast records beside those of the data (Flink's BroadcastProcessFunction and KeyedBroadcastProcessFunction). */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { FiredTimer, KeyedProcessorContext } from '../event-time/keyed-processor.js';
import type { ProcessorContext, Record } from '../processor.js';
import type { AggregatingState, ListState, MapState, ReducingState, ValueState } from '../state/keyed-state.js';
import type {
  AggregatingStateDescriptor,
  AnyStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  ValueStateDescriptor,
} from '../state/state-descriptor.js';
import type { BroadcastState, ReadonlyBroadcastState } from './broadcast-state.js';

/** The handle that a descriptor gives. */
export type StateOf<D extends AnyStateDescriptor> =
  D extends ValueStateDescriptor<infer V>
    ? ValueState<V>
    : D extends ListStateDescriptor<infer V>
      ? ListState<V>
      : D extends MapStateDescriptor<infer UK, infer UV>
        ? MapState<UK, UV>
        : D extends ReducingStateDescriptor<infer V>
          ? ReducingState<V>
          : D extends AggregatingStateDescriptor<infer In, infer _Acc, infer Out>
            ? AggregatingState<In, Out>
            : never;

/** How records of the data, and timers, look at broadcast state. */
export interface BroadcastStateAccess {
  /**
   * Keep the handle: it always shows what the broadcast records so far have written.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE when the state is not among the `states` of `broadcast`
   */
  broadcastState<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): ReadonlyBroadcastState<UK, UV>;
}

/** What `processBroadcast` may do. Good for the one call. */
export interface BroadcastAccess {
  /**
   * The state to write.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE when the state is not among the `states` of `broadcast`; writing, MILL_STATE_INVALID outside of `processBroadcast`
   */
  state<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): BroadcastState<UK, UV>;
}

/** What `processBroadcast` of a keyed processor may do. */
export interface KeyedBroadcastAccess<K> extends BroadcastAccess {
  /**
   * Calls `visit` for each key of the task that has something in that state, with the key's state and timers as those of the current key. The record is done when all
   * keys are.
   *
   * @param descriptor one of the processor's own `states`
   * @throws MILL_STATE_INVALID outside of `processBroadcast`
   */
  applyToKeyedState<D extends AnyStateDescriptor>(descriptor: D, visit: (key: K, state: StateOf<D>) => MaybeAsync): Promise<void>;
}

export interface BroadcastProcessorContext<KOut, VOut> extends ProcessorContext<KOut, VOut>, BroadcastStateAccess {
  /** ms; -Infinity before the first. */
  watermark(): number;
}

export interface KeyedBroadcastProcessorContext<K, KOut, VOut> extends KeyedProcessorContext<K, KOut, VOut>, BroadcastStateAccess {}

/** A step of your own over a stream and a broadcast one (Flink's BroadcastProcessFunction). */
export interface BroadcastProcessor<K, V, KB, VB, KOut = never, VOut = never> {
  /** Called once, before any record. Ask for states here and keep the handles. */
  init?(context: BroadcastProcessorContext<KOut, VOut>): void;
  /** Called for each record of the data, one at a time. When it returns a promise, the task waits for it. */
  process(record: Record<K, V>): MaybeAsync;
  /**
   * Called in every task for each broadcast record. What it writes must follow from the record and the broadcast state alone: the tasks are to write the same.
   *
   * @param record its key and value are null where the topic has none
   */
  processBroadcast(record: Record<KB, VB>, broadcast: BroadcastAccess): MaybeAsync;
  /** Called once, when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}

/** A step of your own over a keyed stream and a broadcast one, with state and timers of the key (Flink's KeyedBroadcastProcessFunction). */
export interface KeyedBroadcastProcessor<K, V, KB, VB, KOut = never, VOut = never> {
  /** Ask for states here and keep the handles: those of keyed state always show the current key's. */
  init?(context: KeyedBroadcastProcessorContext<K, KOut, VOut>): void;
  /** Called for each record of the data, one at a time. When it returns a promise, the task waits for it. */
  process(record: Record<K, V>): MaybeAsync;
  /**
   * Called in every task for each broadcast record. What it writes to broadcast state must follow from the record and that state alone: the tasks are to write the
   * same. There is no current key: `applyToKeyedState` goes through all of the task's.
   *
   * @param record its key and value are null where the topic has none
   */
  processBroadcast(record: Record<KB, VB>, broadcast: KeyedBroadcastAccess<K>): MaybeAsync;
  /** Called for each timer that fires, with the state of its key. */
  onTimer?(timer: FiredTimer<K>): MaybeAsync;
  /** Called once, when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}
