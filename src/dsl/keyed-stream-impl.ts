import { checkOptions } from '../errors/checked-options.js';
import { checkedSupplier } from '../processors/checked-supplier.js';
import { MillraceError } from '../errors.js';
import { defined } from '../processors/defined-result.js';
import { keyedProcessOperator } from '../processors/event-time/keyed-process-operator.js';
import type { KeyedProcessor } from '../processors/event-time/keyed-processor.js';
import type { WindowAssigner } from '../time/windowing/window-assigner.js';
import { connectKeyed } from './broadcast.js';
import type { BroadcastStream, KeyedBroadcastConnectedStream } from './broadcast-stream.js';
import { requireAssigner, requireFunction } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext } from './dsl-context.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import { keyedStateStore } from './keyed-state-store.js';
import { addIntervalJoin } from './interval-join.js';
import type { IntervalBounds } from '../processors/interval-join/interval-bounds.js';
import type {
  IntervalJoinedOptions,
  JoinedAndLate,
  KeyedProcessOptions,
  KeyedStream,
  SideOutputLate,
  WindowedStream,
  WindowOptions,
} from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { shapes } from './option-shapes.js';
import { prefix } from './prefixes.js';
import { WindowedStreamImpl } from './windowed-stream-impl.js';

export class KeyedStreamImpl<K, V> implements KeyedStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;

  constructor(context: DslContext, grouped: GroupedState<K, V>) {
    this.#context = context;
    this.#grouped = grouped;
  }

  window(assigner: WindowAssigner<V>, options: WindowOptions<V> = {}): WindowedStream<K, V> {
    requireAssigner(assigner);
    checkOptions('window', options, shapes.window);
    return new WindowedStreamImpl(this.#context, this.#grouped, assigner, options) as WindowedStream<K, V>;
  }

  process<KR, VR>(supplier: () => KeyedProcessor<K, V, KR, VR>, options: KeyedProcessOptions<KR, VR> = {}): KStream<KR, VR> {
    checkOptions('process', options, shapes.keyedProcess);
    requireFunction('process: the supplier', supplier);
    const { graph } = this.#context;
    const given = checkedName(options);
    const name = graph.nameOr(given, prefix.keyedProcess);
    checkedSupplier(name, supplier);
    const storeName = given === undefined ? graph.newStoreName(prefix.keyedProcess) : `${given}-state`;
    const { states = [], keySerde = null, valueSerde = null } = options;
    const store = keyedStateStore(storeName, name, this.#grouped.fields.keySerde, states);
    const { parent, sources } = this.#grouped.inputFor(graph, storeName);
    const node = statefulNode(name, keyedProcessOperator(supplier, { storeName, states }), store, { usesEventTime: true });
    graph.add(node, [parent]);
    return this.#context.stream<KR, VR>({ name, keySerde, valueSerde, sources, repartitionRequired: true, node });
  }

  connect<KB, VB>(broadcast: BroadcastStream<KB, VB>): KeyedBroadcastConnectedStream<K, V, KB, VB> {
    return connectKeyed(this.#context, this.#grouped, broadcast);
  }

  intervalJoin<V2, O>(
    other: KeyedStream<K, V2>,
    bounds: IntervalBounds,
    joiner: (left: V, right: V2, key: K) => O,
    options: IntervalJoinedOptions<O> & SideOutputLate,
  ): JoinedAndLate<K, V, V2, O>;
  intervalJoin<V2, O>(
    other: KeyedStream<K, V2>,
    bounds: IntervalBounds,
    joiner: (left: V, right: V2, key: K) => O,
    options?: IntervalJoinedOptions<O>,
  ): KStream<K, O>;
  intervalJoin<V2, O>(
    other: KeyedStream<K, V2>,
    bounds: IntervalBounds,
    joiner: (left: V, right: V2, key: K) => O,
    options: IntervalJoinedOptions<O> & Partial<SideOutputLate> = {},
  ): unknown {
    const right = groupedOf(this.#context, other);
    requireFunction('intervalJoin: the joiner', joiner);
    const held = defined('intervalJoin: the joiner', joiner) as typeof joiner;
    checkOptions('intervalJoin', options, shapes.intervalJoin);
    return addIntervalJoin(this.#context, this.#grouped, right, bounds, held, options);
  }

  /** The grouping behind a handle; null when another builder, or somebody else, made it. */
  static grouping(context: DslContext, stream: object): GroupedState<unknown, unknown> | null {
    return #grouped in stream && stream.#context === context ? (stream as KeyedStreamImpl<unknown, unknown>).#grouped : null;
  }
}

function groupedOf<K, V>(context: DslContext, stream: KeyedStream<K, V>): GroupedState<K, V> {
  const grouped = typeof stream === 'object' ? KeyedStreamImpl.grouping(context, stream) : null;
  if (grouped !== null) return grouped as GroupedState<K, V>;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', 'An interval join takes a keyed stream of the same StreamsBuilder: `other.keyBy()`.');
}
