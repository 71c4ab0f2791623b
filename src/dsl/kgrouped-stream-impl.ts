import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { AggregationTable } from '../processors/table-operator.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { streamAggregateOperator } from '../processors/stream-aggregate.js';
import { streamCountOperator } from '../processors/stream-count.js';
import { streamReduceOperator } from '../processors/stream-reduce.js';
import { carriedSerde, combinedParts } from '../processors/two-stage/carried-accumulator.js';
import { localAggregateOperator } from '../processors/two-stage/local-aggregate.js';
import type { AggregateFunction } from '../processors/state/aggregate-function.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import { addAggregation } from './aggregation.js';
import { CogroupedKStreamImpl, cogroupInput } from './cogrouped-kstream-impl.js';
import { requireAggregate, requireFunction, requireWindows } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { CogroupedKStream } from './cogrouped-kstream.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import type { AggregateFunctionOptions, AggregateOptions, TableOptions, TwoStageOption } from './options.js';
import { prefix } from './prefixes.js';
import { SessionWindowedKStreamImpl } from './session-windowed-kstream-impl.js';
import type { SessionWindowedKStream } from './session-windowed-kstream.js';
import { SlidingWindowedKStreamImpl } from './sliding-windowed-kstream-impl.js';
import { TimeWindowedKStreamImpl } from './time-windowed-kstream-impl.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { addFirstStage, foldedBy, neverNull, requireMerger, twoStageOf, type Stages } from './two-stage.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';

export class KGroupedStreamImpl<K, V> implements KGroupedStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;

  constructor(context: DslContext, grouped: GroupedState<K, V>) {
    this.#context = context;
    this.#grouped = grouped;
  }

  count(options: TableOptions<K, number> & TwoStageOption = {}): KTable<K, number> {
    checkOptions('count', options, shapes.combined);
    takeNumberOfUnnamedCount(this.#context.graph, options.materialized);
    return this.#add('count', prefix.aggregate, options, countSerde, streamCountOperator, {
      next: (part) => (part ?? 0) + 1,
      combine: (one, other) => one + other,
    });
  }

  reduce(reducer: Reducer<K, V>, options: TableOptions<K, V> & TwoStageOption = {}): KTable<K, V> {
    checkOptions('reduce', options, shapes.combined);
    requireFunction('reduce: the reducer', reducer);
    const held = defined('reduce: the reducer', reducer);
    return this.#add(
      'reduce',
      prefix.reduce,
      options,
      this.#grouped.fields.valueSerde,
      (common) => streamReduceOperator({ ...common, reducer: held }),
      { next: (part, value, key) => (part === null ? value : held(part, value, key)), combine: held },
    );
  }

  aggregate<A>(initializer: Initializer<A>, aggregator: Aggregator<K, V, A>, options?: AggregateOptions<K, A>): KTable<K, A>;
  aggregate<Acc, Out>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options?: AggregateFunctionOptions<K, NoInfer<Acc>, NoInfer<Out>>,
  ): KTable<K, Out>;
  aggregate(first: unknown, second?: unknown, third?: unknown): unknown {
    if (typeof first === 'object' && first !== null) {
      return this.#aggregateFunction(
        first as AggregateFunction<V, unknown, unknown>,
        second as AggregateFunctionOptions<K, unknown, unknown>,
      );
    }
    return this.#aggregate(first as Initializer<unknown>, second as Aggregator<K, V, unknown>, third as AggregateOptions<K, unknown>);
  }

  #aggregateFunction<Acc, Out>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options: AggregateFunctionOptions<K, Acc, Out> = {},
  ): KTable<K, Out> {
    requireAggregate(aggregate);
    checkOptions('aggregate', options, shapes.aggregateFunction);
    const { valueSerde, ...kept } = options;
    const merger = aggregate.merge === undefined ? undefined : (one: Acc, other: Acc): Acc | null => aggregate.merge?.(one, other) ?? null;
    return this.#aggregate<Acc>(
      () => aggregate.initial(),
      (accumulator, value) => aggregate.add(accumulator, value),
      { ...kept, merger },
      'merge',
    ).mapValues((accumulator) => aggregate.result(accumulator), valueSerde === undefined ? {} : { valueSerde: serdeOf(valueSerde) });
  }

  #aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: AggregateOptions<K, A> = {},
    merging = 'merger',
  ): KTable<K, A> {
    checkOptions('aggregate', options, shapes.aggregate);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    const { merger, twoStage } = options;
    requireMerger(merging, merger, twoStage);
    const first = defined('aggregate: the initializer', initializer);
    const further = defined('aggregate: the aggregator', aggregator);
    return this.#add(
      'aggregate',
      prefix.aggregate,
      options,
      null,
      (common) => streamAggregateOperator({ ...common, initializer: first, aggregator: further }),
      {
        next: foldedBy(first, further),
        combine: merger === undefined ? (one) => one : defined('aggregate: the merger', merger),
      },
    );
  }

  windowedBy(windows: TimeWindows | SlidingWindows): TimeWindowedKStream<K, V>;
  windowedBy(windows: SessionWindows): SessionWindowedKStream<K, V>;
  windowedBy(windows: TimeWindows | SlidingWindows | SessionWindows): TimeWindowedKStream<K, V> | SessionWindowedKStream<K, V> {
    requireWindows(windows);
    if (windows.kind === 'session') return new SessionWindowedKStreamImpl(this.#context, this.#grouped, windows);
    if (windows.kind === 'sliding') return new SlidingWindowedKStreamImpl(this.#context, this.#grouped, windows);
    return new TimeWindowedKStreamImpl(this.#context, this.#grouped, windows);
  }

  cogroup<A>(aggregator: Aggregator<K, V, A>): CogroupedKStream<K, A> {
    requireFunction('cogroup: the aggregator', aggregator);
    return new CogroupedKStreamImpl(this.#context, [cogroupInput(this.#grouped, aggregator)]);
  }

  #add<VR>(
    what: string,
    operatorPrefix: string,
    options: TableOptions<K, VR> & TwoStageOption,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: AggregationTable) => OperatorSupplier,
    stages: Stages<K, V, VR>,
  ): KTable<K, VR> {
    const { graph } = this.#context;
    const { materialized, emit } = options;
    const twoStage = twoStageOf(what, options.twoStage, this.#grouped);
    const keySerde = serdeOf(materialized?.keySerde) ?? this.#grouped.fields.keySerde;
    const valueSerde = serdeOf(materialized?.valueSerde) ?? carriedValueSerde;
    const store = tableStore(graph, operatorPrefix, materialized, { keySerde, valueSerde }, options);
    const common = { storeName: store.name, emit: emit ?? null, valueSerde: store.valueSerde };
    const aggregation = { operatorPrefix, options, store, keySerde, valueSerde };
    if (twoStage === null) return addAggregation(this.#context, { ...aggregation, grouped: this.#grouped, supplier: supplierOf(common) });
    const parts = addFirstStage(graph, this.#grouped, {
      twoStage,
      storeName: store.name,
      name: graph.suffixedOr(checkedName(options), '-parts', operatorPrefix),
      partSerde: carriedSerde(valueSerde),
      operator: (own) => localAggregateOperator({ ...own, what, next: stages.next, valueSerde }),
    });
    const combined: Stages<K, V, VR>['combine'] = (one, other, key) => combinedParts(what, valueSerde, stages.combine, one, other, key);
    const combine = streamReduceOperator({ ...common, reducer: neverNull(what, combined) });
    return addAggregation(this.#context, { ...aggregation, grouped: parts, supplier: combine });
  }
}
