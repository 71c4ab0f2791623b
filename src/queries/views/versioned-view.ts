import type { VersionedRecord } from '../../stores/store.js';
import { checkQueryOptions, queryShapes } from '../query-shapes.js';
import { queries } from '../query.js';
import type { TimeRangeOptions } from '../query.js';
import type { StoreReads } from '../store-reads.js';
import { StoreView } from './store-view.js';
import type { ViewOptions } from './store-view.js';

/** Read-only view of a versioned store, over the partitions that are on this instance. */
export class VersionedView<K, V> extends StoreView<K> {
  readonly kind = 'versioned';

  constructor(store: StoreReads, name: string, options: ViewOptions<K>) {
    super(store, name, options, ['versioned']);
  }

  /** The version valid at `asOf` (ms), by default the latest; null: there is none. */
  async get(key: K, options: { readonly asOf?: number } = {}): Promise<VersionedRecord<V> | null> {
    checkQueryOptions('get', options, queryShapes.asOf);
    return this.ofKey(key, queries.versionedKey<K, V>(key, options));
  }

  /** Versions valid at some time of the range, newest first unless `ascending`. */
  async history(key: K, options: TimeRangeOptions & { readonly ascending?: boolean } = {}): Promise<readonly VersionedRecord<V>[]> {
    checkQueryOptions('history', options, queryShapes.history);
    return this.ofKey(key, queries.versionHistory<K, V>(key, options), (versions) => versions.length === 0);
  }
}
