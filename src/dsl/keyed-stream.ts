import type { KeyedProcessor } from '../processors/event-time/keyed-processor.js';
import type { IntervalBounds } from '../processors/interval-join/interval-bounds.js';
import type { AggregateFunction } from '../processors/state/aggregate-function.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import type { Given } from '../processors/user-functions.js';
import type { Evictor } from '../processors/windowing/evictor.js';
import type { Trigger } from '../processors/windowing/trigger.js';
import type { WindowInfo } from '../processors/windowing/window-context.js';
import type { ResultSerde, SerdeFor } from '../serdes/serde-for.js';
import type { Windowed } from '../time/windowed.js';
import type { WindowAssigner } from '../time/windowing/window-assigner.js';
import type { AppliedAggregateOptions, PlainAggregateOptions } from './applied-aggregate.js';
import type { BroadcastStream, KeyedBroadcastConnectedStream } from './broadcast-stream.js';
import type { KStream } from './kstream.js';
import type { NamedOptions, OperatorStatesOption, ForwardedOptions, TwoStageOption } from './options.js';

/** For `KeyedStream.process`. */
export interface KeyedProcessOptions<KR, VR> extends ForwardedOptions<KR, VR>, OperatorStatesOption {
  /** All states by key that the processor asks for. */
  readonly states?: readonly AnyStateDescriptor[];
}

/** For `KeyedStream.window`. */
export interface WindowOptions<V> {
  /** When results go out. Default: the assigner's, once the window's time has passed. */
  readonly trigger?: Trigger<V>;
  /** Takes records out before the function sees them. The window then keeps all its records. */
  readonly evictor?: Evictor<V>;
  /** How long after its end a window still takes late records and gives out new results, ms of event time. Default 0. */
  readonly allowedLateness?: number;
}

/** For operators whose results are those of windows. */
export interface WindowResultOptions<R> extends NamedOptions {
  /** Serde of the results, carried along. */
  readonly valueSerde?: SerdeFor<R>;
  /** States that the window function uses. */
  readonly states?: readonly AnyStateDescriptor[];
}

/** For `WindowedStream.aggregate`. */
export interface WindowAggregateOptions<K, Acc, Out, R> extends WindowResultOptions<R>, TwoStageOption {
  /** Of the accumulator, as it is stored. Default: JSON. */
  readonly accumulatorSerde?: SerdeFor<Acc>;
  /** Makes the result out of the aggregate's, with what is known of the window: its bounds, `isLate`, `revision`. */
  readonly apply?: (key: K, result: Out, info: WindowInfo) => R;
  /** Clears `windowState` of `apply` when the window ends. */
  readonly clear?: (key: K, info: WindowInfo) => void;
}

/** For `WindowedStream.process`. */
export interface WindowProcessOptions<K, R> extends WindowResultOptions<NoInfer<R>> {
  /** Clears `windowState` of the function when the window ends. */
  readonly clear?: (key: K, info: WindowInfo) => void;
}

/** Asks for the records that no window takes any more. */
export interface SideOutputLate {
  /** Gives `{ results, late }` in place of the results alone. */
  readonly sideOutputLate: true;
}

/** Results, and the late records that would otherwise be dropped and counted. */
export interface ResultsAndLate<K, V, R> {
  readonly results: KStream<Windowed<K>, R>;
  readonly late: KStream<K, V>;
}

/** For `KeyedStream.intervalJoin`. */
export interface IntervalJoinedOptions<O> extends NamedOptions {
  /** Serde of the results, carried along. */
  readonly valueSerde?: ResultSerde<O>;
}

/** Results of a join, and the records that came too late to join. */
export interface JoinedAndLate<K, L, R, O> {
  readonly results: KStream<K, O>;
  readonly lateLeft: KStream<K, L>;
  readonly lateRight: KStream<K, R>;
}

/** For `KeyedStream.temporalJoin` and `leftTemporalJoin`. */
export interface TemporalJoinedOptions<O> extends NamedOptions {
  /** Serde of the results, carried along. */
  readonly valueSerde?: ResultSerde<O>;
}

/** Which records without a partner in their window are joined with null: none, those of this stream, of the other, of both. */
export type WindowJoinKind = 'inner' | 'left' | 'right' | 'full';

/** For `KeyedStream.windowJoin` and, without `kind`, `coGroup`. */
export interface WindowJoinOptions<O> extends NamedOptions {
  /** Default `inner`. */
  readonly kind?: WindowJoinKind;
  /** How long after its end a window still takes late records, ms of event time. Each of them gives all results of its window anew. Default 0. */
  readonly allowedLateness?: number;
  /** Serde of the results, carried along. */
  readonly valueSerde?: ResultSerde<O>;
}

/** Results of a join by window, and the records that no window took any more. */
export interface WindowJoinedAndLate<K, L, R, O> {
  readonly results: KStream<Windowed<K>, O>;
  readonly lateLeft: KStream<K, L>;
  readonly lateRight: KStream<K, R>;
}

/** What the joiner of a window join gets for this stream: null too where the kind keeps records of the other one alone. */
export type LeftOf<J extends WindowJoinKind, V> = J extends 'right' | 'full' ? V | null : V;
/** The same for the other stream. */
export type RightOf<J extends WindowJoinKind, V> = J extends 'left' | 'full' ? V | null : V;

/** A stream by key: `KStream.keyBy`. */
export interface KeyedStream<K, V> {
  /**
   * Cuts the stream into windows.
   *
   * @throws MILL_TOPOLOGY_INVALID when the windows are in event time and a source has no `watermarks`, or the trigger can't be used with these windows
   * @example
   * clicks.keyBy().window(sessionEventTime({ gap: 30 * 60_000 }), { allowedLateness: 60_000 }).reduce((a, b) => merged(a, b));
   */
  window(assigner: WindowAssigner<V>, options?: WindowOptions<V>): WindowedStream<K, V>;

  /**
   * Hands each record to a processor of your own, with state and timers of its key.
   *
   * @param supplier makes a new processor at each call
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice; MILL_TOPOLOGY_DUPLICATE_NAME when two states have one name
   * @example
   * const seen = valueState<boolean>('seen', { ttl: { ttl: 600_000 } });
   * events.keyBy().process(() => new Deduplicate(seen), { name: 'deduplicate', states: [seen] });
   */
  process<KR, VR>(supplier: () => KeyedProcessor<K, V, KR, VR>, options?: KeyedProcessOptions<KR, VR>): KStream<KR, VR>;

  /**
   * Connects the stream with a broadcast one, whose every record reaches every task: rules, settings, models beside the data.
   *
   * Each task has one partition of the broadcast topic beside its own of the data, so broadcast records belong to its epochs: after a crash its broadcast state is that of its last
   * commit, and no record is taken twice or left out. A broadcast record reaches a task one commit of its own task later; records of the data do not wait for it. When the
   * broadcast stream's source has `watermarks`, event time waits for it as for any other.
   *
   * @throws MILL_TOPOLOGY_INVALID when the broadcast stream comes from another builder
   * @example
   * const rules = mapState<string, Rule>('rules');
   * const changes = builder.stream<string, Rule>('rules').broadcast({ name: 'rules', states: [rules] });
   * payments.keyBy().connect(changes).process(() => new CheckRules(rules), { name: 'check' });
   */
  connect<KB, VB>(broadcast: BroadcastStream<KB, VB>): KeyedBroadcastConnectedStream<K, V, KB, VB>;

  /**
   * Joins each pair of records of one key whose event times are near enough: `left + lower ≤ right ≤ left + upper`. Each record is kept until the watermark has
   * passed the last one that it could meet. Results have the higher timestamp of the two.
   *
   * @throws MILL_CONFIG_INVALID when `lower` is above `upper`; MILL_TOPOLOGY_INVALID when a source has no `watermarks`; MILL_TOPOLOGY_NOT_COPARTITIONED at start
   * @example
   * measurements.keyBy().intervalJoin(calibrations.keyBy(), { lower: -300_000, upper: 300_000 }, (value, factor) => value * factor);
   */
  intervalJoin<V2, O extends Given<O>>(
    other: KeyedStream<K, V2>,
    bounds: IntervalBounds,
    joiner: (left: V, right: V2, key: K) => O,
    options: IntervalJoinedOptions<NoInfer<O>> & SideOutputLate,
  ): JoinedAndLate<K, V, V2, O>;
  /** As above; records that come too late to join are dropped and counted (`late`). */
  intervalJoin<V2, O extends Given<O>>(
    other: KeyedStream<K, V2>,
    bounds: IntervalBounds,
    joiner: (left: V, right: V2, key: K) => O,
    options?: IntervalJoinedOptions<NoInfer<O>>,
  ): KStream<K, O>;

  /**
   * Joins each record with the row that the other stream had for its key at the record's own time (Flink's event-time temporal join): the latest one at or before it. The other stream is a
   * log of changes: a record is a new version from its timestamp on, a null value ends what was. Records wait until the watermark has passed their time. Results have the
   * timestamp of the record; those without a version are left out.
   *
   * @throws MILL_TOPOLOGY_INVALID when a source has no `watermarks`; MILL_TOPOLOGY_NOT_COPARTITIONED at start
   * @example
   * orders.keyBy((order) => order.currency).temporalJoin(rates.keyBy(), (order, rate) => order.total * rate, { name: 'in-euros', valueSerde: serdes.double });
   */
  temporalJoin<V2, O extends Given<O>>(
    versions: KeyedStream<K, V2>,
    joiner: (value: V, version: NonNullable<V2>, key: K) => O,
    options: TemporalJoinedOptions<NoInfer<O>> & SideOutputLate,
  ): JoinedAndLate<K, V, V2, O>;
  /** As above; late records are dropped and counted (`late`). */
  temporalJoin<V2, O extends Given<O>>(
    versions: KeyedStream<K, V2>,
    joiner: (value: V, version: NonNullable<V2>, key: K) => O,
    options?: TemporalJoinedOptions<NoInfer<O>>,
  ): KStream<K, O>;

  /** As `temporalJoin`, but records without a version are joined with null. */
  leftTemporalJoin<V2, O extends Given<O>>(
    versions: KeyedStream<K, V2>,
    joiner: (value: V, version: NonNullable<V2> | null, key: K) => O,
    options: TemporalJoinedOptions<NoInfer<O>> & SideOutputLate,
  ): JoinedAndLate<K, V, V2, O>;
  /** As above; late records are dropped and counted (`late`). */
  leftTemporalJoin<V2, O extends Given<O>>(
    versions: KeyedStream<K, V2>,
    joiner: (value: V, version: NonNullable<V2> | null, key: K) => O,
    options?: TemporalJoinedOptions<NoInfer<O>>,
  ): KStream<K, O>;

  /**
   * Joins each pair of records of one key that lie in the same window, when the window fires. `kind` says which records without a partner are joined with null. Windows keep all their
   * records; results carry the window in their key, and its last millisecond as timestamp.
   *
   * @throws MILL_TOPOLOGY_INVALID when the windows are in event time and a source has no `watermarks`, or never end; MILL_TOPOLOGY_NOT_COPARTITIONED at start
   * @example
   * views.keyBy().windowJoin(clicks.keyBy(), tumblingEventTime({ size: 60_000 }), (view, click) => ({ ...view, clicked: click !== null }), { kind: 'left' });
   */
  windowJoin<V2, O extends Given<O>, J extends WindowJoinKind = 'inner'>(
    other: KeyedStream<K, V2>,
    assigner: WindowAssigner<NoInfer<V | V2>>,
    joiner: (left: LeftOf<J, V>, right: RightOf<J, V2>, key: K, info: WindowInfo) => O,
    options: WindowJoinOptions<NoInfer<O>> & { readonly kind?: J } & SideOutputLate,
  ): WindowJoinedAndLate<K, V, V2, O>;
  /** As above; late records are dropped and counted (`late`). */
  windowJoin<V2, O extends Given<O>, J extends WindowJoinKind = 'inner'>(
    other: KeyedStream<K, V2>,
    assigner: WindowAssigner<NoInfer<V | V2>>,
    joiner: (left: LeftOf<J, V>, right: RightOf<J, V2>, key: K, info: WindowInfo) => O,
    options?: WindowJoinOptions<NoInfer<O>> & { readonly kind?: J },
  ): KStream<Windowed<K>, O>;

  /**
   * The general form of `windowJoin`: a function gets all records of both sides in a window, in order of arrival, and gives any number of results.
   *
   * @example
   * bids.keyBy().coGroup(asks.keyBy(), tumblingEventTime({ size: 1_000 }), (key, bidsIn, asksIn) => matched(bidsIn, asksIn));
   */
  coGroup<V2, O>(
    other: KeyedStream<K, V2>,
    assigner: WindowAssigner<NoInfer<V | V2>>,
    apply: (key: K, lefts: readonly V[], rights: readonly V2[], info: WindowInfo) => readonly O[],
    options: Omit<WindowJoinOptions<NoInfer<O>>, 'kind'> & SideOutputLate,
  ): WindowJoinedAndLate<K, V, V2, O>;
  /** As above; late records are dropped and counted (`late`). */
  coGroup<V2, O>(
    other: KeyedStream<K, V2>,
    assigner: WindowAssigner<NoInfer<V | V2>>,
    apply: (key: K, lefts: readonly V[], rights: readonly V2[], info: WindowInfo) => readonly O[],
    options?: Omit<WindowJoinOptions<NoInfer<O>>, 'kind'>,
  ): KStream<Windowed<K>, O>;
}

/** A keyed stream in windows. Results carry the window in their key, and its last millisecond as timestamp. */
export interface WindowedStream<K, V> {
  /**
   * One accumulator for each key and window, whatever comes in: constant space.
   *
   * @example
   * const mean = { initial: () => ({ sum: 0, count: 0 }), add: (a, v) => ({ sum: a.sum + v, count: a.count + 1 }), result: (a) => a.sum / a.count };
   * readings.keyBy().window(tumblingEventTime({ size: 60_000 })).aggregate(mean);
   */
  aggregate<Acc, Out, R>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options: AppliedAggregateOptions<K, Acc, Out, R> & SideOutputLate,
  ): ResultsAndLate<K, V, R>;
  /** As above; what `result` gives goes out. */
  aggregate<Acc, Out>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options: PlainAggregateOptions<K, Acc, Out> & SideOutputLate,
  ): ResultsAndLate<K, V, Out>;
  /** As above; late records are dropped and counted (`late`). */
  aggregate<Acc, Out, R>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options: AppliedAggregateOptions<K, Acc, Out, R>,
  ): KStream<Windowed<K>, R>;
  /** As above; what `result` gives goes out. */
  aggregate<Acc, Out>(aggregate: AggregateFunction<V, Acc, Out>, options?: PlainAggregateOptions<K, Acc, Out>): KStream<Windowed<K>, Out>;

  /** As `aggregate`, where accumulator and result have the values' type. */
  reduce(reducer: (a: V, b: V) => V, options: WindowResultOptions<V> & TwoStageOption & SideOutputLate): ResultsAndLate<K, V, V>;
  /** As above; late records are dropped and counted (`late`). */
  reduce(reducer: (a: V, b: V) => V, options?: WindowResultOptions<V> & TwoStageOption): KStream<Windowed<K>, V>;

  /** All values of the window at once, in order of arrival; any number of results. The window's state grows with its records. */
  process<R>(
    apply: (key: K, values: readonly V[], info: WindowInfo) => readonly R[],
    options: WindowProcessOptions<K, R> & SideOutputLate,
  ): ResultsAndLate<K, V, R>;
  /** As above; late records are dropped and counted (`late`). */
  process<R>(
    apply: (key: K, values: readonly V[], info: WindowInfo) => readonly R[],
    options?: WindowProcessOptions<K, R>,
  ): KStream<Windowed<K>, R>;
}
