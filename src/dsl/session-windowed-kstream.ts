import type { Aggregator, Initializer, Reducer, SessionMerger } from '../processors/user-functions.js';
import type { Windowed } from '../time/windowed.js';
import type { KTable } from './ktable.js';
import type { LateOptions, WindowTableOptions } from './options.js';

/**
 * A stream grouped by key and session. A session takes records until stream time has passed its end by more than gap and grace; later ones are dropped and
 * counted, or go where `late` says. When a record makes sessions one, the old ones are deleted downstream before the new one is told. Both ends of a session are inclusive;
 * the timestamp of a result is its end.
 *
 * `emit` says when results leave: `onUpdate`, `onCommit`, or `onWindowClose`, once a session and final.
 */
export interface SessionWindowedKStream<K, V> {
  /**
   * How many records each session had.
   *
   * @example
   * clicks.groupByKey().windowedBy(sessions({ gap: 30 * 60_000 })).count({ emit: 'onWindowClose', materialized: { storeName: 'visits' } });
   */
  count(options?: WindowTableOptions<K, number> & LateOptions<K, V>): KTable<Windowed<K>, number>;

  /**
   * Combines the values of each session, two at a time. Sessions that become one are combined by the reducer too.
   *
   * @param reducer gets the aggregate so far, the record's value and the key; null deletes the row
   * @example
   * bids.groupByKey().windowedBy(sessions({ gap: 60_000 })).reduce((best, bid) => (bid.price > best.price ? bid : best));
   */
  reduce(reducer: Reducer<K, V>, options?: WindowTableOptions<K, V> & LateOptions<K, V>): KTable<Windowed<K>, V>;

  /**
   * Folds the values of each session into an aggregate of any type.
   *
   * @param initializer gives the aggregate before the first record of a session
   * @param aggregator gets the aggregate so far, the record's value and the key; null deletes the row
   * @param merger combines the aggregates of two sessions that have become one; the first of them is what `initializer` gave
   * @example
   * clicks.groupByKey().windowedBy(sessions({ gap: 60_000 })).aggregate(
   *   () => [] as string[],
   *   (pages, click) => [...pages, click.page],
   *   (one, other) => [...one, ...other],
   *   { materialized: { storeName: 'paths', valueSerde: serdes.json() } },
   * );
   */
  aggregate<A>(
    initializer: Initializer<A>,
    aggregator: Aggregator<K, V, A>,
    merger: SessionMerger<K, A>,
    options?: WindowTableOptions<K, A> & LateOptions<K, V>,
  ): KTable<Windowed<K>, A>;
}
