import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import { windowAggregateOperator } from '../processors/window-aggregate.js';
import { windowCountOperator } from '../processors/window-count.js';
import { windowReduceOperator } from '../processors/window-reduce.js';
import { countSerde } from '../serdes/count.js';
import type { Serde } from '../serdes/serde.js';
import type { TimeWindows } from '../time/time-windows.js';
import type { Windowed } from '../time/windowed.js';
import { requireFunction } from './checked-arguments.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import type { LateOptions, TwoStageOption, WindowedAggregateOptions, WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';
import { foldedBy, requireMerger } from './two-stage.js';
import { secondStageOf, type WindowStages } from './two-stage-windows.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';
import { windowedKeySerde } from './windowed-keys.js';
import { addWindowedAggregation, type WindowedCommon, type WindowedTarget } from './windowed-aggregation.js';

export class TimeWindowedKStreamImpl<K, V> implements TimeWindowedKStream<K, V> {
  readonly #target: WindowedTarget<K, V, TimeWindows>;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: TimeWindows) {
    this.#target = { context, grouped, windows, grace: windows.grace, windowedKey: (keySerde) => windowedKeySerde(keySerde, windows.size) };
  }

  count(options: WindowTableOptions<K, number> & LateOptions<K, V> & TwoStageOption = {}): KTable<Windowed<K>, number> {
    checkOptions('count', options, shapes.windowCombined);
    takeNumberOfUnnamedCount(this.#target.context.graph, options.materialized);
    return this.#add(options, countSerde, windowCountOperator, {
      what: 'count',
      operatorPrefix: prefix.aggregate,
      takesNull: true,
      next: (part) => (part ?? 0) + 1,
      combine: (one, other) => one + other,
    });
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> & LateOptions<K, V> & TwoStageOption = {}): KTable<Windowed<K>, V> {
    checkOptions('reduce', options, shapes.windowCombined);
    requireFunction('reduce: the reducer', reducer);
    const held = defined('reduce: the reducer', reducer);
    const { valueSerde } = this.#target.grouped.fields;
    return this.#add(options, valueSerde, (common) => windowReduceOperator({ ...common, reducer: held }), {
      what: 'reduce',
      operatorPrefix: prefix.reduce,
      takesNull: false,
      next: (part, value, key) => (part === null ? value : held(part, value, key)),
      combine: held,
    });
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options: WindowedAggregateOptions<K, A> & LateOptions<K, V> = {},
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.windowedAggregate);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    const { merger, twoStage } = options;
    requireMerger('merger', merger, twoStage);
    const first = defined('aggregate: the initializer', initializer);
    const further = defined('aggregate: the aggregator', aggregator);
    return this.#add(options, null, (common) => windowAggregateOperator({ ...common, initializer: first, aggregator: further }), {
      what: 'aggregate',
      operatorPrefix: prefix.aggregate,
      takesNull: true,
      next: foldedBy(first, further),
      combine: merger === undefined ? (one) => one : defined('aggregate: the merger', merger),
    });
  }

  #add<VR>(
    options: WindowTableOptions<K, VR> & LateOptions<K, V> & TwoStageOption,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: WindowedCommon<TimeWindows>) => OperatorSupplier,
    stages: WindowStages<K, V, VR>,
  ): KTable<Windowed<K>, VR> {
    return addWindowedAggregation(this.#target, stages.operatorPrefix, options, carriedValueSerde, supplierOf, (store, common) =>
      secondStageOf(this.#target, options, stages, store, common),
    );
  }
}
