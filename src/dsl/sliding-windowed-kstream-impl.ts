import { slidingAggregateOperator } from '../processors/sliding-aggregate.js';
import { slidingCountOperator } from '../processors/sliding-count.js';
import { slidingReduceOperator } from '../processors/sliding-reduce.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { Windowed } from '../time/windowed.js';
import { requireFunction } from './checked-arguments.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import type { WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { windowedKeySerde } from './windowed-keys.js';
import { addWindowedAggregation, type WindowedTarget } from './windowed-aggregation.js';

export class SlidingWindowedKStreamImpl<K, V> implements TimeWindowedKStream<K, V> {
  readonly #target: WindowedTarget<K, V, SlidingWindows>;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: SlidingWindows) {
    this.#target = {
      context,
      grouped,
      windows,
      grace: windows.grace,
      windowedKey: (keySerde) => windowedKeySerde(keySerde, windows.timeDifference),
    };
  }

  count(options: WindowTableOptions<K, number> = {}): KTable<Windowed<K>, number> {
    return addWindowedAggregation(this.#target, prefix.aggregate, options, countSerde, slidingCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> = {}): KTable<Windowed<K>, V> {
    requireFunction('reduce: the reducer', reducer);
    return addWindowedAggregation(this.#target, prefix.reduce, options, this.#target.grouped.fields.valueSerde, (common) =>
      slidingReduceOperator({ ...common, reducer }),
    );
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowTableOptions<K, A> = {},
  ): KTable<Windowed<K>, A> {
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, null, (common) =>
      slidingAggregateOperator({ ...common, initializer, aggregator }),
    );
  }
}
