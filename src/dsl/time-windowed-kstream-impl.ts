import type { OperatorSupplier } from '../processors/operator.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { windowAggregateOperator } from '../processors/window-aggregate.js';
import type { WindowAggregationOptions } from '../processors/window-aggregation.js';
import { windowCountOperator } from '../processors/window-count.js';
import { windowReduceOperator } from '../processors/window-reduce.js';
import { countSerde } from '../serdes/count.js';
import type { Serde } from '../serdes/serde.js';
import type { TimeWindows } from '../time/time-windows.js';
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

export class TimeWindowedKStreamImpl<K, V> implements TimeWindowedKStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;
  readonly #windows: TimeWindows;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: TimeWindows) {
    this.#context = context;
    this.#grouped = grouped;
    this.#windows = windows;
  }

  count(options: WindowTableOptions<K, number> = {}): KTable<Windowed<K>, number> {
    takeNumberOfUnnamedCount(this.#context.graph, options.materialized);
    return this.#add(prefix.aggregate, options, countSerde, windowCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> = {}): KTable<Windowed<K>, V> {
    return this.#add(prefix.reduce, options, this.#grouped.fields.valueSerde, (common) => windowReduceOperator({ ...common, reducer }));
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowTableOptions<K, A> = {},
  ): KTable<Windowed<K>, A> {
    return this.#add(prefix.aggregate, options, null, (common) => windowAggregateOperator({ ...common, initializer, aggregator }));
  }

  #add<VR>(
    operatorPrefix: string,
    options: WindowTableOptions<K, VR>,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: WindowAggregationOptions) => OperatorSupplier,
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
      keySerde: windowedKeySerde(keySerde, this.#windows.size),
      valueSerde,
      windowGrace: this.#windows.grace,
    });
  }
}
