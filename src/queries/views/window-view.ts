import type { QueryIterator } from '../query-iterator.js';
import { checkQueryOptions, queryShapes } from '../query-shapes.js';
import { queries } from '../query.js';
import type { TimedPageOptions, TimedRangeOptions } from '../query.js';
import type { WindowRow } from '../rows.js';
import type { StoreReads } from '../store-reads.js';
import { StoreView } from './store-view.js';
import type { ViewOptions } from './store-view.js';

/** Read-only view of a window store, over the partitions that are on this instance. Windows past the retention are gone. */
export class WindowView<K, V> extends StoreView<K> {
  readonly kind = 'window';

  constructor(store: StoreReads, name: string, options: ViewOptions<K>) {
    super(store, name, options, ['window', 'timestampedWindow', 'slidingWindow']);
  }

  /** The value of the window that starts at `start` (ms); null: there is none. */
  async get(key: K, start: number): Promise<V | null> {
    return this.ofKey(key, queries.window<K, V>(key, start));
  }

  /** Windows of a key that start in the range, by start. */
  fetch(key: K, options: TimedPageOptions = {}): QueryIterator<WindowRow<K, V>> {
    checkQueryOptions('fetch', options, queryShapes.timedPage);
    return this.rowsOfKey(key, queries.windowKey<K, V>(key, options));
  }

  /** Windows of all keys that start in the range, by start, then key bytes; sliding windows by key bytes, then start. */
  fetchAll(options: TimedRangeOptions<K> = {}): QueryIterator<WindowRow<K, V>> {
    checkQueryOptions('fetchAll', options, queryShapes.timedRange);
    return this.rowsOfAll(queries.windowRange<K, V>(options));
  }
}
