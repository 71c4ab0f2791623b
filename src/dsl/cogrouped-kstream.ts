import type { Aggregator, Initializer, SessionMerger } from '../processors/user-functions.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import type { Windowed } from '../time/windowed.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KTable } from './ktable.js';
import type { CogroupedWindowOptions, LateOptions, TableOptions } from './options.js';

/**
 * Several grouped streams with one aggregate: each has its own aggregator, all write the same table.
 *
 * @example
 * const profiles = orders.groupByKey()
 *   .cogroup((profile: Profile, order) => ({ ...profile, orders: profile.orders + 1 }))
 *   .cogroup(visits.groupByKey(), (profile, visit) => ({ ...profile, lastVisit: visit.page }))
 *   .aggregate(() => ({ orders: 0, lastVisit: null }), { materialized: { storeName: 'profiles', valueSerde: serdes.json() } });
 */
export interface CogroupedKStream<K, A> {
  /**
   * Adds a stream. Its keys must be of the same type, and its topics have as many partitions.
   *
   * @param aggregator gets the aggregate so far, the record's value and the key; null deletes the row
   */
  cogroup<V>(grouped: KGroupedStream<K, V>, aggregator: Aggregator<K, V, A>): CogroupedKStream<K, A>;

  /**
   * The table of the aggregates.
   *
   * @param initializer gives the aggregate before the first record of a key
   */
  aggregate(initializer: Initializer<A>, options?: TableOptions<K, A>): KTable<K, A>;

  /** Aggregates by window as well as by key. */
  windowedBy(windows: TimeWindows | SlidingWindows): WindowedCogroupedKStream<K, A>;
  /** Aggregates by session as well as by key. */
  windowedBy(windows: SessionWindows): SessionWindowedCogroupedKStream<K, A>;
}

/** Several grouped streams with one aggregate for each key and window. */
export interface WindowedCogroupedKStream<K, A> {
  /**
   * The table of the aggregates.
   *
   * @param initializer gives the aggregate before the first record of a window
   */
  aggregate(initializer: Initializer<A>, options?: CogroupedWindowOptions<K, A> & LateOptions<K, unknown>): KTable<Windowed<K>, A>;
}

/** Several grouped streams with one aggregate for each key and session. */
export interface SessionWindowedCogroupedKStream<K, A> {
  /**
   * The table of the aggregates.
   *
   * @param initializer gives the aggregate before the first record of a session
   * @param merger combines the aggregates of two sessions that have become one
   */
  aggregate(
    initializer: Initializer<A>,
    merger: SessionMerger<K, A>,
    options?: CogroupedWindowOptions<K, A> & LateOptions<K, unknown>,
  ): KTable<Windowed<K>, A>;
}
