import type { OperatorSupplier } from '../processors/operator.js';
import { sessionAggregateOperator } from '../processors/session-aggregate.js';
import type { SessionAggregationOptions } from '../processors/session-aggregation.js';
import { sessionCountOperator } from '../processors/session-count.js';
import { sessionReduceOperator } from '../processors/session-reduce.js';
import type { Aggregator, Initializer, Reducer, SessionMerger } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import type { Serde } from '../serdes/serde.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { Windowed } from '../time/windowed.js';
import { addAggregation } from './aggregation.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import { windowTableStore } from './materialize.js';
import type { WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { SessionWindowedKStream } from './session-windowed-kstream.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';
import { sessionKeySerde } from './windowed-keys.js';

export class SessionWindowedKStreamImpl<K, V> implements SessionWindowedKStream<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;
  readonly #windows: SessionWindows;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: SessionWindows) {
    this.#context = context;
    this.#grouped = grouped;
    this.#windows = windows;
  }

  count(options: WindowTableOptions<K, number> = {}): KTable<Windowed<K>, number> {
    takeNumberOfUnnamedCount(this.#context.graph, options.materialized);
    return this.#add(prefix.aggregate, options, countSerde, sessionCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> = {}): KTable<Windowed<K>, V> {
    return this.#add(prefix.reduce, options, this.#grouped.fields.valueSerde, (common) => sessionReduceOperator({ ...common, reducer }));
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    merger: SessionMerger<K, A>,
    options: WindowTableOptions<K, A> = {},
  ): KTable<Windowed<K>, A> {
    return this.#add(prefix.aggregate, options, null, (common) => sessionAggregateOperator({ ...common, initializer, aggregator, merger }));
  }

  #add<VR>(
    operatorPrefix: string,
    options: WindowTableOptions<K, VR>,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: SessionAggregationOptions) => OperatorSupplier,
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
      keySerde: sessionKeySerde(keySerde),
      valueSerde,
      windowGrace: this.#windows.gap + this.#windows.grace,
    });
  }
}
