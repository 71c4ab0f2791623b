import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { windowAggregateOperator } from '../processors/window-aggregate.js';
import { windowCountOperator } from '../processors/window-count.js';
import { windowReduceOperator } from '../processors/window-reduce.js';
import { countSerde } from '../serdes/count.js';
import type { TimeWindows } from '../time/time-windows.js';
import type { Windowed } from '../time/windowed.js';
import { requireFunction } from './checked-arguments.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import type { LateOptions, WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';
import { windowedKeySerde } from './windowed-keys.js';
import { addWindowedAggregation, type WindowedTarget } from './windowed-aggregation.js';

export class TimeWindowedKStreamImpl<K, V> implements TimeWindowedKStream<K, V> {
  readonly #target: WindowedTarget<K, V, TimeWindows>;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: TimeWindows) {
    this.#target = { context, grouped, windows, grace: windows.grace, windowedKey: (keySerde) => windowedKeySerde(keySerde, windows.size) };
  }

  count(options: WindowTableOptions<K, number> & LateOptions<K, V> = {}): KTable<Windowed<K>, number> {
    checkOptions('count', options, shapes.windowTable);
    takeNumberOfUnnamedCount(this.#target.context.graph, options.materialized);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, countSerde, windowCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> & LateOptions<K, V> = {}): KTable<Windowed<K>, V> {
    checkOptions('reduce', options, shapes.windowTable);
    requireFunction('reduce: the reducer', reducer);
    return addWindowedAggregation(this.#target, prefix.reduce, options, this.#target.grouped.fields.valueSerde, (common) =>
      windowReduceOperator({ ...common, reducer: defined('reduce: the reducer', reducer) }),
    );
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowTableOptions<K, A> & LateOptions<K, V> = {},
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.windowTable);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, null, (common) =>
      windowAggregateOperator({
        ...common,
        initializer: defined('aggregate: the initializer', initializer),
        aggregator: defined('aggregate: the aggregator', aggregator),
      }),
    );
  }
}
