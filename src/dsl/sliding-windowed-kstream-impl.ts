import type { OperatorSupplier } from '../processors/operator.js';
import { slidingAggregateOperator } from '../processors/sliding-aggregate.js';
import type { SlidingAggregationOptions } from '../processors/sliding-aggregation.js';
import { slidingCountOperator } from '../processors/sliding-count.js';
import { slidingReduceOperator } from '../processors/sliding-reduce.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import type { Serde } from '../serdes/serde.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { Windowed } from '../time/windowed.js';
import { addAggregation } from './aggregation.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import { windowTableStore } from './materialize.js';
import type { WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';
import { windowedKeySerde } from './windowed-keys.js';

export class SlidingWindowedKStreamImpl<K, V> implements TimeWindowedKStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;
  readonly #windows: SlidingWindows;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: SlidingWindows) {
    this.#context = context;
    this.#grouped = grouped;
    this.#windows = windows;
  }

  count(options: WindowTableOptions<K, number> = {}): KTable<Windowed<K>, number> {
    takeNumberOfUnnamedCount(this.#context.graph, options.materialized);
    return this.#add(prefix.aggregate, options, countSerde, slidingCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> = {}): KTable<Windowed<K>, V> {
    return this.#add(prefix.reduce, options, this.#grouped.fields.valueSerde, (common) => slidingReduceOperator({ ...common, reducer }));
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowTableOptions<K, A> = {},
  ): KTable<Windowed<K>, A> {
    return this.#add(prefix.aggregate, options, null, (common) => slidingAggregateOperator({ ...common, initializer, aggregator }));
  }

  #add<VR>(
    operatorPrefix: string,
    options: WindowTableOptions<K, VR>,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: SlidingAggregationOptions) => OperatorSupplier,
  ): KTable<Windowed<K>, VR> {
    const { materialized, emit } = options;
    const keySerde = materialized?.keySerde ?? this.#grouped.fields.keySerde;
    const valueSerde = materialized?.valueSerde ?? carriedValueSerde;
    const store = windowTableStore(this.#context.graph, operatorPrefix, materialized, { keySerde, valueSerde }, emit, this.#windows);
    return addAggregation(this.#context, {
      grouped: this.#grouped,
      operatorPrefix,
      options,
      store,
      supplier: supplierOf({ storeName: store.name, windows: this.#windows, emit: emit ?? null }),
      keySerde: windowedKeySerde(keySerde, this.#windows.timeDifference),
      valueSerde,
      windowGrace: this.#windows.grace,
    });
  }
}
