/** What range queries give: plain objects, copies of what the store holds. */

/** A row of a key-value store. */
export interface KeyValueRow<K, V> {
  readonly key: K;
  readonly value: V;
  /** Milliseconds; null in stores that keep none. */
  readonly timestamp: number | null;
}

/** One window of a key. */
export interface WindowRow<K, V> {
  readonly key: K;
  /** Milliseconds, inclusive. */
  readonly start: number;
  /** Start and size of the window, ms. */
  readonly end: number;
  readonly value: V;
  /** Milliseconds; null in stores that keep none. */
  readonly timestamp: number | null;
}

/** One session of a key. */
export interface SessionWindowRow<K, V> {
  readonly key: K;
  /** Time of the session's first record, ms. */
  readonly start: number;
  /** Time of the session's last record, ms. */
  readonly end: number;
  readonly value: V;
}
