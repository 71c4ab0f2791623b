import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { passThroughOperator } from '../processors/pass-through.js';
import { sessionAggregateOperator } from '../processors/session-aggregate.js';
import { slidingAggregateOperator } from '../processors/sliding-aggregate.js';
import { streamAggregateOperator } from '../processors/stream-aggregate.js';
import type { Aggregator, Initializer, SessionMerger } from '../processors/user-functions.js';
import { windowAggregateOperator } from '../processors/window-aggregate.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import type { Windowed } from '../time/windowed.js';
import { checkedName } from './checked-name.js';
import { requireFunction, requireWindows } from './checked-arguments.js';
import type { CogroupedKStream, SessionWindowedCogroupedKStream, WindowedCogroupedKStream } from './cogrouped-kstream.js';
import type { DslContext } from './dsl-context.js';
import { operatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KTable } from './ktable.js';
import { tableStore, windowTableStore } from './materialize.js';
import { addLateOutput, lateTarget } from './late-output.js';
import type { CogroupedWindowOptions, LateOption, LateOptions, NamedOptions, TableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { storedView } from './table-view.js';
import { sessionKeySerde, windowedKeySerde } from './windowed-keys.js';

/** One of the streams; its values are of a type of its own. */
interface Input<K, A> {
  readonly grouped: GroupedState<K, unknown>;
  readonly aggregator: Aggregator<K, unknown, A>;
}

export class CogroupedKStreamImpl<K, A> implements CogroupedKStream<K, A> {
  readonly #context: DslContext;
  readonly #inputs: readonly Input<K, A>[];

  constructor(context: DslContext, inputs: readonly Input<K, A>[]) {
    this.#context = context;
    this.#inputs = inputs;
  }

  cogroup<V>(grouped: KGroupedStream<K, V>, aggregator: Aggregator<K, V, A>): CogroupedKStream<K, A> {
    requireFunction('cogroup: the aggregator', aggregator);
    return new CogroupedKStreamImpl(this.#context, [...this.#inputs, cogroupInput(this.#context.groupedState(grouped), aggregator)]);
  }

  aggregate(initializer: Initializer<A>, options: TableOptions<K, A> = {}): KTable<K, A> {
    checkOptions('aggregate', options, shapes.table);
    requireFunction('aggregate: the initializer', initializer);
    const { materialized, emit } = options;
    const keySerde = this.#keySerde(serdeOf(materialized?.keySerde));
    const valueSerde = serdeOf(materialized?.valueSerde) ?? null;
    const store = tableStore(this.#context.graph, prefix.cogroupAggregate, materialized, { keySerde, valueSerde }, options);
    const first = defined('aggregate: the initializer', initializer);
    const common = { storeName: store.name, initializer: first, emit: emit ?? null, valueSerde: store.valueSerde };
    const supplierOf = (aggregator: Aggregator<K, unknown, A>): OperatorSupplier => streamAggregateOperator({ ...common, aggregator });
    return this.#add({ options, store, supplierOf, keySerde, valueSerde, storeName: materialized?.storeName });
  }

  windowedBy(windows: TimeWindows | SlidingWindows): WindowedCogroupedKStream<K, A>;
  windowedBy(windows: SessionWindows): SessionWindowedCogroupedKStream<K, A>;
  windowedBy(
    windows: TimeWindows | SlidingWindows | SessionWindows,
  ): WindowedCogroupedKStream<K, A> | SessionWindowedCogroupedKStream<K, A> {
    requireWindows(windows);
    if (windows.kind === 'session') {
      const bySession: SessionWindowedCogroupedKStream<K, A> = {
        aggregate: (initializer, merger, options = {}) => this.#aggregateSessions(windows, initializer, merger, options),
      };
      return bySession;
    }
    const byWindow: WindowedCogroupedKStream<K, A> = {
      aggregate: (initializer, options = {}) => this.#aggregateWindows(windows, initializer, options),
    };
    return byWindow;
  }

  #aggregateWindows(
    windows: TimeWindows | SlidingWindows,
    initializer: Initializer<A>,
    options: CogroupedWindowOptions<K, A> & LateOptions<K, unknown>,
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.cogroupedWindow);
    const { materialized, emit, late } = options;
    const keySerde = this.#keySerde(serdeOf(materialized?.keySerde));
    const valueSerde = serdeOf(materialized?.valueSerde) ?? null;
    const store = windowTableStore(this.#context.graph, prefix.cogroupAggregate, materialized, { keySerde, valueSerde }, options, windows);
    const common = {
      storeName: store.name,
      initializer: defined('aggregate: the initializer', initializer),
      emit: emit ?? null,
      late: lateTarget(late, store.name),
      valueSerde: store.valueSerde,
    };
    return this.#add({
      options,
      store,
      late,
      supplierOf: (aggregator) =>
        windows.kind === 'sliding'
          ? slidingAggregateOperator({ ...common, windows, aggregator })
          : windowAggregateOperator({ ...common, windows, aggregator }),
      keySerde: windowedKeySerde(keySerde, windows.kind === 'sliding' ? windows.timeDifference : windows.size),
      valueSerde,
      storeName: materialized?.storeName,
      windowGrace: windows.grace,
    });
  }

  #aggregateSessions(
    windows: SessionWindows,
    initializer: Initializer<A>,
    merger: SessionMerger<K, A>,
    options: CogroupedWindowOptions<K, A> & LateOptions<K, unknown>,
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.cogroupedWindow);
    const { materialized, emit, late } = options;
    const keySerde = this.#keySerde(serdeOf(materialized?.keySerde));
    const valueSerde = serdeOf(materialized?.valueSerde) ?? null;
    const store = windowTableStore(this.#context.graph, prefix.cogroupAggregate, materialized, { keySerde, valueSerde }, options, windows);
    const common = {
      storeName: store.name,
      windows,
      initializer: defined('aggregate: the initializer', initializer),
      merger: defined('aggregate: the merger', merger),
      emit: emit ?? null,
      late: lateTarget(late, store.name),
      valueSerde: store.valueSerde,
    };
    return this.#add({
      options,
      store,
      late,
      supplierOf: (aggregator) => sessionAggregateOperator({ ...common, aggregator }),
      keySerde: sessionKeySerde(keySerde),
      valueSerde,
      storeName: materialized?.storeName,
      windowGrace: windows.gap + windows.grace,
    });
  }

  #keySerde(given: Serde<K> | undefined): Serde<K> | null {
    return given ?? this.#inputs.find(({ grouped }) => grouped.fields.keySerde !== null)?.grouped.fields.keySerde ?? null;
  }

  /** Of the streams' values, when they have one in common. */
  #valueSerde(): Serde<unknown> | null {
    const [first, ...others] = this.#inputs.map(({ grouped }) => grouped.fields.valueSerde);
    return first !== undefined && others.every((serde) => serde === first) ? first : null;
  }

  /** An operator for each stream over one store, and one that all results pass through. */
  #add<KR>(table: {
    readonly options: NamedOptions;
    readonly store: StoreSpec;
    readonly supplierOf: (aggregator: Aggregator<K, unknown, A>) => OperatorSupplier;
    readonly keySerde: Serde<KR> | null;
    readonly valueSerde: Serde<A> | null;
    readonly storeName: string | undefined;
    readonly windowGrace?: number;
    readonly late?: LateOption<K, unknown>;
  }): KTable<KR, A> {
    const { graph } = this.#context;
    const { store, keySerde, valueSerde, windowGrace } = table;
    const given = checkedName(table.options);
    const inputs = this.#inputs.map(({ grouped }) => grouped.inputFor(graph, store.name));
    const sources = [...new Set(inputs.flatMap((input) => input.sources))];
    graph.copartition(sources);
    const operators = this.#inputs.map(({ aggregator }, index) => {
      const name = graph.nameOr(given === undefined ? undefined : `${given}-cogroup-agg-${index}`, prefix.cogroupAggregate);
      const supplier = table.supplierOf(aggregator);
      return index === 0 ? statefulNode(name, supplier, store) : operatorNode(name, supplier, { stores: [store.name] });
    });
    operators.forEach((operator, index) => {
      const parent = inputs[index]?.parent;
      graph.add(operator, parent === undefined ? [] : [parent]);
      if (windowGrace !== undefined) graph.windowGraces.set(operator, windowGrace);
    });
    addLateOutput(this.#context, table.late, store.name, operators, {
      keySerde: this.#keySerde(undefined),
      valueSerde: this.#valueSerde(),
      sources,
    });
    const name = graph.nameOr(given === undefined ? undefined : `${given}-cogroup-merge`, prefix.cogroupMerge);
    const node = operatorNode(name, passThroughOperator());
    graph.add(node, operators);
    const view = storedView<KR, A>(graph, operators[0] as ReturnType<typeof statefulNode>);
    return this.#context.table({ name, keySerde, valueSerde, sources, queryableStoreName: table.storeName ?? null, node, view });
  }
}

/** Each aggregator only ever sees the values of its own stream. */
export function cogroupInput<K, V, A>(grouped: GroupedState<K, V>, aggregator: Aggregator<K, V, A>): Input<K, A> {
  return { grouped, aggregator: defined('cogroup: the aggregator', aggregator as Aggregator<K, unknown, A>) };
}
