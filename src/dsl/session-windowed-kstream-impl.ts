import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import { sessionAggregateOperator } from '../processors/session-aggregate.js';
import { sessionCountOperator } from '../processors/session-count.js';
import { sessionReduceOperator } from '../processors/session-reduce.js';
import type { Aggregator, Initializer, Reducer, SessionMerger } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { Windowed } from '../time/windowed.js';
import { requireFunction } from './checked-arguments.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import type { LateOptions, WindowTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { SessionWindowedKStream } from './session-windowed-kstream.js';
import { refuseTwoStage } from './two-stage-windows.js';
import { takeNumberOfUnnamedCount } from './unnamed-count.js';
import { sessionKeySerde } from './windowed-keys.js';
import { addWindowedAggregation, type WindowedTarget } from './windowed-aggregation.js';

const unsliced = 'sessions begin and end with records';

export class SessionWindowedKStreamImpl<K, V> implements SessionWindowedKStream<K, V> {
  readonly #target: WindowedTarget<K, V, SessionWindows>;

  constructor(context: DslContext, grouped: GroupedState<K, V>, windows: SessionWindows) {
    this.#target = { context, grouped, windows, grace: windows.gap + windows.grace, windowedKey: (keySerde) => sessionKeySerde(keySerde) };
  }

  count(options: WindowTableOptions<K, number> & LateOptions<K, V> = {}): KTable<Windowed<K>, number> {
    checkOptions('count', options, shapes.windowCombined);
    refuseTwoStage('count', options, unsliced);
    takeNumberOfUnnamedCount(this.#target.context.graph, options.materialized);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, countSerde, sessionCountOperator);
  }

  reduce(reducer: Reducer<K, V>, options: WindowTableOptions<K, V> & LateOptions<K, V> = {}): KTable<Windowed<K>, V> {
    checkOptions('reduce', options, shapes.windowCombined);
    refuseTwoStage('reduce', options, unsliced);
    requireFunction('reduce: the reducer', reducer);
    return addWindowedAggregation(this.#target, prefix.reduce, options, this.#target.grouped.fields.valueSerde, (common) =>
      sessionReduceOperator({ ...common, reducer: defined('reduce: the reducer', reducer) }),
    );
  }

  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    merger: SessionMerger<K, A>,
    options: WindowTableOptions<K, A> & LateOptions<K, V> = {},
  ): KTable<Windowed<K>, A> {
    checkOptions('aggregate', options, shapes.windowCombined);
    refuseTwoStage('aggregate', options, unsliced);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the aggregator', aggregator);
    requireFunction('aggregate: the merger', merger);
    return addWindowedAggregation(this.#target, prefix.aggregate, options, null, (common) =>
      sessionAggregateOperator({
        ...common,
        initializer: defined('aggregate: the initializer', initializer),
        aggregator: defined('aggregate: the aggregator', aggregator),
        merger: defined('aggregate: the merger', merger),
      }),
    );
  }
}
