import { joinWindowStore, lruStore, sessionStore, slidingWindowStore, timeOrderedBuffer, versionedStore } from './list-store-builders.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from './store-builders.js';

/**
 * Store specs for `addStateStore` and `Materialized`-like options: `stores.keyValue({ name: 'seen' })`. Each takes the store's name and, unless the app's defaults
 * will do, its serdes and engine. Errors: MILL_TOPOLOGY_INVALID.
 */
export const stores = Object.freeze({
  keyValue: keyValueStore,
  timestampedKeyValue: timestampedKeyValueStore,
  lru: lruStore,
  window: windowStore,
  timestampedWindow: timestampedWindowStore,
  session: sessionStore,
  slidingWindow: slidingWindowStore,
  joinWindow: joinWindowStore,
  versioned: versionedStore,
  timeOrderedBuffer,
});
