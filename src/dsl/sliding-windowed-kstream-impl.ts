import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
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
import type { LateOptions, TwoStageOption, WindowedAggregateOptions, WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { refuseTwoStage } from './two-stage-windows.js';
import { windowedKeySerde } from './windowed-keys.js';
import { addWindowedAggregation, type WindowedTarget } from './windowed-aggregation.js';

const unsliced = 'sliding windows begin and end with records';

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

  count(options: WindowTableOptions<K, number> & LateOptions<K, V> & TwoStageOption = {}): KTable<Windowed<K>, number> {
    checkOptions('count', options, shapes.windowCombined);
    refuseTwoStage('count', options, unsliced);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, countSerde, slidingCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> & LateOptions<K, V> & TwoStageOption = {}): KTable<Windowed<K>, V> {
    checkOptions('reduce', options, shapes.windowCombined);
    refuseTwoStage('reduce', options, unsliced);
    requireFunction('reduce: the reducer', reducer);
    return addWindowedAggregation(this.#target, prefix.reduce, options, this.#target.grouped.fields.valueSerde, (common) =>
      slidingReduceOperator({ ...common, reducer: defined('reduce: the reducer', reducer) }),
    );
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowedAggregateOptions<K, A> & LateOptions<K, V> = {},
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.windowedAggregate);
    refuseTwoStage('aggregate', options, unsliced);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, null, (common) =>
      slidingAggregateOperator({
        ...common,
        initializer: defined('aggregate: the initializer', initializer),
        aggregator: defined('aggregate: the aggregator', aggregator),
      }),
    );
  }
}
