import { joinWindowStore, lruStore, sessionStore, slidingWindowStore, timeOrderedBuffer, versionedStore } from './list-store-builders.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from './store-builders.js';

/**
 * Store specs for `addStateStore` and `Materialized`-like options: `stores.keyValue({ name: 'seen' })`. Each takes the store's name and, unless the app's defaults
 * will do, its serdes and engine. Errors: MILL_TOPOLOGY_INVALID.
 */
export const stores = Object.freeze({
  /** One row a key. `context.store` gives a `KeyValueStore`. */
  keyValue: keyValueStore,
  /** One row a key, with the time of its record: what tables and aggregations keep. A `TimestampedKeyValueStore`. */
  timestampedKeyValue: timestampedKeyValueStore,
  /** The `maxEntries` rows of a `KeyValueStore` used last, in memory. */
  lru: lruStore,
  /** One row for each key and window start, kept for `retention` ms. A `WindowStore`. */
  window: windowStore,
  /** The same with the time of the row's record. A `TimestampedWindowStore`. */
  timestampedWindow: timestampedWindowStore,
  /** Sessions by key, start and end, kept for `retention` ms. A `SessionStore`. */
  session: sessionStore,
  /** Windows that may start at any time. A `SlidingWindowStore`. */
  slidingWindow: slidingWindowStore,
  /** All records of a key by time, also those with equal times. A `JoinWindowStore`. */
  joinWindow: joinWindowStore,
  /** Rows with their past (KIP-889). A `VersionedKeyValueStore`. */
  versioned: versionedStore,
  /** Rows in order of time that wait to be taken out. A `TimeOrderedBuffer`. */
  timeOrderedBuffer,
});
