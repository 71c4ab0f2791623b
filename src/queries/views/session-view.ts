import type { QueryIterator } from '../query-iterator.js';
import { checkQueryOptions, queryShapes } from '../query-shapes.js';
import { queries } from '../query.js';
import type { TimedPageOptions, TimedRangeOptions } from '../query.js';
import type { SessionWindowRow } from '../rows.js';
import type { StoreReads } from '../store-reads.js';
import { StoreView } from './store-view.js';
import type { ViewOptions } from './store-view.js';

/** Read-only view of a session store, over the partitions that are on this instance. Sessions past the retention are gone. */
export class SessionView<K, V> extends StoreView<K> {
  readonly kind = 'session';

  constructor(store: StoreReads, name: string, options: ViewOptions<K>) {
    super(store, name, options, ['session']);
  }

  /** The value of the session with exactly these bounds (ms, both inclusive); null: there is none. */
  async get(key: K, start: number, end: number): Promise<V | null> {
    return this.ofKey(key, queries.session<K, V>(key, start, end));
  }

  /** Sessions of a key that overlap the range, by end. */
  fetch(key: K, options: TimedPageOptions = {}): QueryIterator<SessionWindowRow<K, V>> {
    checkQueryOptions('fetch', options, queryShapes.timedPage);
    return this.rowsOfKey(key, queries.sessionKey<K, V>(key, options));
  }

  /** Sessions of all keys that overlap the range, by key bytes, then end. */
  fetchAll(options: TimedRangeOptions<K> = {}): QueryIterator<SessionWindowRow<K, V>> {
    checkQueryOptions('fetchAll', options, queryShapes.timedRange);
    return this.rowsOfAll(queries.sessionRange<K, V>(options));
  }
}
