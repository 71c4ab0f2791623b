/** The public API of broadcast streams: every record reaches every task of the streams that they are connected to. */
import type { BroadcastProcessor, KeyedBroadcastProcessor } from '../processors/broadcast/broadcast-processor.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import type { SerdeFor } from '../serdes/serde-for.js';
import type { KStream } from './kstream.js';
import type { NamedOptions, OperatorStatesOption, ForwardedOptions } from './options.js';

/** For `KStream.broadcast`. `name` names the topic that carries the records to all tasks: `<applicationId>-<name>-broadcast-repartition`. */
export interface BroadcastOptions<K, V> extends NamedOptions {
  /** The broadcast states that the records write: map states without a time to live, each of its own name. */
  readonly states: readonly AnyStateDescriptor[];
  /** Default: the serde that the stream carries, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Default: the one known for the stream, else the app's. */
  readonly valueSerde?: SerdeFor<V>;
}

/** A stream whose records go to every task: `KStream.broadcast`. It has one use: `connect`. */
export interface BroadcastStream<K, V> {
  readonly kind: 'broadcast';
  /** Never there: it lets the compiler tell streams of different records apart. */
  readonly records?: readonly [key: K, value: V];
}

/** For `BroadcastConnectedStream.process`. */
export type BroadcastProcessOptions<KR, VR> = ForwardedOptions<KR, VR> & OperatorStatesOption;

/** For `KeyedBroadcastConnectedStream.process`. */
export interface KeyedBroadcastProcessOptions<KR, VR> extends ForwardedOptions<KR, VR>, OperatorStatesOption {
  /** All keyed states that the processor asks for; broadcast states are those of `broadcast`. */
  readonly states?: readonly AnyStateDescriptor[];
}

/** A stream and a broadcast one: `KStream.connect`. */
export interface BroadcastConnectedStream<K, V, KB, VB> {
  /**
   * Hands each record of the stream, and in every task each broadcast record, to a processor of your own.
   *
   * Broadcast state lies in a store of each task, `<name>-broadcast-<state>`.
   *
   * @param supplier makes a new processor at each call: every task has its own
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice, or what it gives has no `process` and `processBroadcast`
   * @example
   * payments.connect(rules).process(() => new CheckRules(), { name: 'check' });
   */
  process<KR, VR>(supplier: () => BroadcastProcessor<K, V, KB, VB, KR, VR>, options?: BroadcastProcessOptions<KR, VR>): KStream<KR, VR>;
}

/** A keyed stream and a broadcast one: `KeyedStream.connect`. */
export interface KeyedBroadcastConnectedStream<K, V, KB, VB> {
  /**
   * Hands each record of the stream, with state and timers of its key, and in every task each broadcast record, to a processor of your own.
   *
   * Broadcast state lies in a store of each task, `<name>-broadcast-<state>`.
   *
   * @param supplier makes a new processor at each call: every task has its own
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice, or what it gives has no `process` and `processBroadcast`;
   * MILL_TOPOLOGY_DUPLICATE_NAME when two states have one name
   * @example
   * payments.keyBy().connect(rules).process(() => new CheckRules(), { name: 'check', states: [spent] });
   */
  process<KR, VR>(
    supplier: () => KeyedBroadcastProcessor<K, V, KB, VB, KR, VR>,
    options?: KeyedBroadcastProcessOptions<KR, VR>,
  ): KStream<KR, VR>;
}
