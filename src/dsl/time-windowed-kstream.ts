import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import type { Windowed } from '../time/windowed.js';
import type { KTable } from './ktable.js';
import type { LateOptions, TwoStageOption, WindowedAggregateOptions, WindowTableOptions } from './options.js';

/**
 * A stream grouped by key and window. A window takes records until stream time, the highest timestamp seen, has passed its end by the grace;
 * later ones are dropped and counted, or go where `late` says. Windows are `[start, end)`.
 *
 * `emit` says when results leave: `onUpdate`, `onCommit`, or `onWindowClose`, once a window and final.
 *
 * With `twoStage` (tumbling and hopping windows) each task folds what it reads of a key and slice of time before the repartition topic.
 */
export interface TimeWindowedKStream<K, V> {
  /**
   * How many records each key had in each window.
   *
   * @example
   * clicks.groupByKey().windowedBy(tumbling({ size: 60_000 })).count({ emit: 'onWindowClose', materialized: { storeName: 'clicks-a-minute' } });
   */
  count(options?: WindowTableOptions<K, number> & LateOptions<K, V> & TwoStageOption): KTable<Windowed<K>, number>;

  /**
   * Combines the values of each key and window, two at a time.
   *
   * @param reducer gets the aggregate so far, the record's value and the key; null deletes the row
   * @example
   * bids.groupByKey().windowedBy(hopping({ size: 60_000, advance: 10_000 })).reduce((best, bid) => (bid.price > best.price ? bid : best));
   */
  reduce(reducer: Reducer<K, V>, options?: WindowTableOptions<K, V> & LateOptions<K, V> & TwoStageOption): KTable<Windowed<K>, V>;

  /**
   * Folds the values of each key and window into an aggregate of any type.
   *
   * @param initializer gives the aggregate before the first record of a window
   * @param aggregator gets the aggregate so far, the record's value and the key; null deletes the row
   * @example
   * flights.groupByKey().windowedBy(tumbling({ size: 86_400_000 })).aggregate(
   *   () => ({ flights: 0, delay: 0 }),
   *   (sum, flight) => ({ flights: sum.flights + 1, delay: sum.delay + flight.delay }),
   *   { materialized: { storeName: 'delays', valueSerde: serdes.json() } },
   * );
   */
  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    options?: WindowedAggregateOptions<K, A> & LateOptions<K, V>,
  ): KTable<Windowed<K>, A>;
}
