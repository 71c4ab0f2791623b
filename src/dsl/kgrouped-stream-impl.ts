import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { TableEmit } from '../processors/emit.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { streamAggregateOperator } from '../processors/stream-aggregate.js';
import { streamCountOperator } from '../processors/stream-count.js';
import { streamReduceOperator } from '../processors/stream-reduce.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import type { Serde } from '../serdes/serde.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import { addAggregation } from './aggregation.js';
import { CogroupedKStreamImpl, cogroupInput } from './cogrouped-kstream-impl.js';
import { requireFunction, requireWindows } from './checked-arguments.js';
import type { CogroupedKStream } from './cogrouped-kstream.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import type { TableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { SessionWindowedKStreamImpl } from './session-windowed-kstream-impl.js';
import type { SessionWindowedKStream } from './session-windowed-kstream.js';
import { SlidingWindowedKStreamImpl } from './sliding-windowed-kstream-impl.js';
import { TimeWindowedKStreamImpl } from './time-windowed-kstream-impl.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';

export class KGroupedStreamImpl<K, V> implements KGroupedStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;

  constructor(context: DslContext, grouped: GroupedState<K, V>) {
    this.#context = context;
    this.#grouped = grouped;
  }

  count(options: TableOptions<K, number> = {}): KTable<K, number> {
    checkOptions('count', options, shapes.table);
    takeNumberOfUnnamedCount(this.#context.graph, options.materialized);
    return this.#add(prefix.aggregate, options, countSerde, streamCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: TableOptions<K, V> = {}): KTable<K, V> {
    checkOptions('reduce', options, shapes.table);
    requireFunction('reduce: the reducer', reducer);
    return this.#add(prefix.reduce, options, this.#grouped.fields.valueSerde, (common) =>
      streamReduceOperator({ ...common, reducer: defined('reduce: the reducer', reducer) }),
    );
  }

  aggregate<A>(initializer: Initializer<A>, aggregator: Aggregator<K, V, A>, options: TableOptions<K, A> = {}): KTable<K, A> {
    checkOptions('aggregate', options, shapes.table);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    return this.#add(prefix.aggregate, options, null, (common) =>
      streamAggregateOperator({
        ...common,
        initializer: defined('aggregate: the initializer', initializer),
        aggregator: defined('aggregate: the aggregator', aggregator),
      }),
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
    operatorPrefix: string,
    options: TableOptions<K, VR>,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: { readonly storeName: string; readonly emit: TableEmit }) => OperatorSupplier,
  ): KTable<K, VR> {
    const { materialized, emit } = options;
    const keySerde = materialized?.keySerde ?? this.#grouped.fields.keySerde;
    const valueSerde = materialized?.valueSerde ?? carriedValueSerde;
    const store = tableStore(this.#context.graph, operatorPrefix, materialized, { keySerde, valueSerde }, options);
    const supplier = supplierOf({ storeName: store.name, emit: emit ?? null });
    return addAggregation(this.#context, { grouped: this.#grouped, operatorPrefix, options, store, supplier, keySerde, valueSerde });
  }
}
