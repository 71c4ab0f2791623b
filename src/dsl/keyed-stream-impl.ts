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
import { serdeOf } from '../serdes/serde-for.js';
import type {
  IntervalJoinedOptions,
  JoinedAndLate,
  KeyedProcessOptions,
  KeyedStream,
  SideOutputLate,
  WindowedStream,
  WindowJoinOptions,
  WindowOptions,
} from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { addOperatorStates, storeNamesOf } from './operator-state-stores.js';
import { shapes } from './option-shapes.js';
import { prefix } from './prefixes.js';
import { addTemporalJoin } from './temporal-join.js';
import { addCoGroup, pairsOf } from './window-join.js';
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
    const { states = [] } = options;
    const keySerde = serdeOf(options.keySerde) ?? null;
    const valueSerde = serdeOf(options.valueSerde) ?? null;
    const store = keyedStateStore(storeName, name, this.#grouped.fields.keySerde, states);
    const { parent, sources } = this.#grouped.inputFor(graph, storeName);
    const operatorStates = addOperatorStates(graph, name, options.operatorStates, states);
    const node = statefulNode(name, keyedProcessOperator(supplier, { storeName, states, operatorStates }), store, {
      storeNamedBy: 'name',
      usesEventTime: true,
      stores: storeNamesOf(operatorStates),
    });
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
    const right = groupedOf(this.#context, 'intervalJoin', other);
    requireFunction('intervalJoin: the joiner', joiner);
    const held = defined('intervalJoin: the joiner', joiner) as typeof joiner;
    checkOptions('intervalJoin', options, shapes.intervalJoin);
    return addIntervalJoin(this.#context, this.#grouped, right, bounds, held, options);
  }

  temporalJoin(versions: KeyedStream<K, unknown>, joiner: unknown, options: object = {}): never {
    return this.#temporal('temporalJoin', versions, joiner, options) as never;
  }

  leftTemporalJoin(versions: KeyedStream<K, unknown>, joiner: unknown, options: object = {}): never {
    return this.#temporal('leftTemporalJoin', versions, joiner, options) as never;
  }

  windowJoin(other: KeyedStream<K, unknown>, assigner: WindowAssigner, joiner: unknown, options: WindowJoinOptions<unknown> = {}): never {
    checkOptions('windowJoin', options, shapes.windowJoin);
    requireFunction('windowJoin: the joiner', joiner);
    const { kind = 'inner', ...others } = options;
    const pairs = pairsOf(kind, joiner as Parameters<typeof pairsOf<K, V, unknown, unknown>>[1]);
    return this.#coGrouped('windowJoin', other, assigner, pairs, others) as never;
  }

  coGroup(other: KeyedStream<K, unknown>, assigner: WindowAssigner, apply: unknown, options: object = {}): never {
    checkOptions('coGroup', options, shapes.coGroup);
    requireFunction('coGroup: the function', apply);
    return this.#coGrouped('coGroup', other, assigner, apply as Parameters<typeof addCoGroup<K, V, unknown, unknown>>[5], options) as never;
  }

  #temporal(what: 'temporalJoin' | 'leftTemporalJoin', versions: KeyedStream<K, unknown>, joiner: unknown, options: object): unknown {
    const right = groupedOf(this.#context, what, versions);
    requireFunction(`${what}: the joiner`, joiner);
    checkOptions(what, options, shapes.temporalJoin);
    const held = defined(`${what}: the joiner`, joiner as (left: V, right: unknown, key: K) => unknown);
    return addTemporalJoin(this.#context, this.#grouped, right, held, what === 'leftTemporalJoin', options);
  }

  #coGrouped(
    what: 'windowJoin' | 'coGroup',
    other: KeyedStream<K, unknown>,
    assigner: WindowAssigner,
    apply: Parameters<typeof addCoGroup<K, V, unknown, unknown>>[5],
    options: object,
  ): unknown {
    const right = groupedOf(this.#context, what, other);
    requireAssigner(assigner);
    return addCoGroup(this.#context, what, this.#grouped, right, assigner, apply, options);
  }

  /** The grouping behind a handle; null when another builder, or somebody else, made it. */
  static grouping(context: DslContext, stream: object): GroupedState<unknown, unknown> | null {
    return #grouped in stream && stream.#context === context ? (stream as KeyedStreamImpl<unknown, unknown>).#grouped : null;
  }
}

function groupedOf<K, V>(context: DslContext, what: string, stream: KeyedStream<K, V>): GroupedState<K, V> {
  const grouped = typeof stream === 'object' && (stream as unknown) !== null ? KeyedStreamImpl.grouping(context, stream) : null;
  if (grouped !== null) return grouped as GroupedState<K, V>;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `${what} takes a keyed stream of the same StreamsBuilder: \`other.keyBy()\`.`);
}
