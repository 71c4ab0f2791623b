import type { ValueAndTimestamp } from '../../stores/store.js';
import type { QueryIterator } from '../query-iterator.js';
import { requireArgument } from '../../errors/checked-options.js';
import { checkQueryOptions, prefixOption, queryShapes } from '../query-shapes.js';
import { queries } from '../query.js';
import type { PageOptions, RangeOptions } from '../query.js';
import type { KeyValueRow } from '../rows.js';
import type { StoreReads } from '../store-reads.js';
import { StoreView } from './store-view.js';
import type { ViewOptions } from './store-view.js';

/** Read-only view of a key-value store, over the partitions that are on this instance. Errors of all reads: see `StreamsApp.store`. */
export class KeyValueView<K, V> extends StoreView<K> {
  readonly kind = 'keyValue';

  constructor(store: StoreReads, name: string, options: ViewOptions<K>) {
    super(store, name, options, ['keyValue', 'timestampedKeyValue']);
  }

  /** null: there is no such key. @throws MILL_STORE_NOT_LOCAL when the key belongs to another instance */
  get(key: K): Promise<V | null> {
    return this.ofKey(key, queries.key<K, V>(key));
  }

  /** As `get`; only in stores that keep timestamps, as those of the DSL's tables do (else MILL_STORE_WRONG_TYPE). */
  getWithTimestamp(key: K): Promise<ValueAndTimestamp<V> | null> {
    return this.ofKey(key, queries.timestampedKey<K, V>(key));
  }

  /** Rows in the order of their key bytes, over all partitions here. */
  range(options: RangeOptions<K> = {}): QueryIterator<KeyValueRow<K, V>> {
    return this.rowsOfAll(queries.range<K, V>(options));
  }

  /** All rows, in the order of their key bytes. */
  all(options: PageOptions = {}): QueryIterator<KeyValueRow<K, V>> {
    checkQueryOptions('all', options, queryShapes.page);
    return this.range(options);
  }

  /** Rows whose serialised keys begin with the bytes; a string stands for its UTF-8 bytes. */
  prefix(prefix: Uint8Array | string, options: PageOptions = {}): QueryIterator<KeyValueRow<K, V>> {
    checkQueryOptions('prefix', options, queryShapes.page);
    requireArgument('prefix: the prefix', prefix, prefixOption, 'MILL_QUERY_INVALID');
    return this.range({ ...options, prefix });
  }

  /** Rows on this instance; not exact after a restore, and with open epochs counted in. */
  approximateCount(): Promise<number> {
    return this.approximateRows();
  }
}
