import type { AggregateFunction } from '../processors/state/aggregate-function.js';
import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import type { CogroupedKStream } from './cogrouped-kstream.js';
import type { KTable } from './ktable.js';
import type { AggregateFunctionOptions, AggregateOptions, TableOptions, TwoStageOption } from './options.js';
import type { SessionWindowedKStream } from './session-windowed-kstream.js';
import type { TimeWindowedKStream } from './time-windowed-kstream.js';

/**
 * A stream grouped by key, to be aggregated. Records without a key or a value are dropped and counted; the timestamp of a result is the highest of
 * its records.
 */
export interface KGroupedStream<K, V> {
  /**
   * How many records each key had.
   *
   * The result is a number, kept as 8 bytes like Java's `Long`.
   *
   * @example
   * words.groupBy((word) => word).count({ materialized: { storeName: 'word-counts' } }).toStream().to('counts');
   */
  count(options?: TableOptions<K, number> & TwoStageOption): KTable<K, number>;

  /**
   * Combines the values of each key, two at a time; the first value is taken as it is.
   *
   * @param reducer gets the aggregate so far, the record's value and the key; null deletes the row. With `twoStage` it also combines parts, and may not give null
   * @example
   * orders.groupByKey().reduce((largest, order) => (order.total > largest.total ? order : largest));
   */
  reduce(reducer: Reducer<K, V>, options?: TableOptions<K, V> & TwoStageOption): KTable<K, V>;

  /**
   * Folds the values of each key into an aggregate of any type.
   *
   * @param initializer gives the aggregate before the first record
   * @param aggregator gets the aggregate so far, the record's value and the key, and gives the new aggregate; null deletes the row
   * @example
   * orders.groupByKey().aggregate(
   *   () => ({ orders: 0, total: 0 }),
   *   (sum, order) => ({ orders: sum.orders + 1, total: sum.total + order.total }),
   *   { materialized: { storeName: 'totals', valueSerde: serdes.json() } },
   * );
   */
  aggregate<A>(initializer: Initializer<A>, aggregator: Aggregator<K, V, A>, options?: AggregateOptions<K, A>): KTable<K, A>;

  /**
   * As above, where what is kept (the accumulator) is not what comes out. With `twoStage` the accumulators of the tasks are combined by `merge`.
   *
   * @throws MILL_TOPOLOGY_INVALID when `twoStage` is asked for without `merge`, or where no repartition topic comes before the aggregation
   * @example
   * const mean = {
   *   initial: () => ({ sum: 0, count: 0 }),
   *   add: (part, reading) => ({ sum: part.sum + reading.value, count: part.count + 1 }),
   *   merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
   *   result: ({ sum, count }) => sum / count,
   * };
   * readings.groupBy((reading) => reading.site).aggregate(mean, { twoStage: true, materialized: { storeName: 'means', valueSerde: serdes.json<Mean>() } });
   */
  aggregate<Acc, Out>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options?: AggregateFunctionOptions<K, NoInfer<Acc>, NoInfer<Out>>,
  ): KTable<K, Out>;

  /**
   * Groups by window as well as by key.
   *
   * @example
   * clicks.groupByKey().windowedBy(tumbling({ size: 60_000, grace: 5_000 })).count();
   * clicks.groupByKey().windowedBy(sliding({ timeDifference: 60_000 })).count();
   */
  windowedBy(windows: TimeWindows | SlidingWindows): TimeWindowedKStream<K, V>;

  /**
   * Groups by session as well as by key.
   *
   * @example
   * clicks.groupByKey().windowedBy(sessions({ gap: 30 * 60_000 })).count();
   */
  windowedBy(windows: SessionWindows): SessionWindowedKStream<K, V>;

  /**
   * Aggregates several grouped streams into one table.
   *
   * @param aggregator for the records of this stream: gets the aggregate so far, the record's value and the key; null deletes the row
   * @example
   * orders.groupByKey()
   *   .cogroup((sum: number, order) => sum + order.total)
   *   .cogroup(refunds.groupByKey(), (sum, refund) => sum - refund.total)
   *   .aggregate(() => 0, { materialized: { storeName: 'turnover', valueSerde: serdes.double } });
   */
  cogroup<A>(aggregator: Aggregator<K, V, A>): CogroupedKStream<K, A>;
}
