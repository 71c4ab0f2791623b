/**
 * State stores as operators and users see them, and as a task manages them.
 *
 * Point operations are synchronous; range scans are async iterators. A store belongs to one task. Its engine (memory or LevelDB) only ever
 * holds committed epochs: what the epochs in work wrote lives in memory until the Kafka transaction has ended (DESIGN §5).
 */
import type { Serde } from '../serdes/serde.js';

export type StoreKind = 'keyValue' | 'timestampedKeyValue' | 'window' | 'timestampedWindow';

export interface StateStore {
  readonly name: string;
  readonly kind: StoreKind;
}

export interface KeyRange<K> {
  /** Inclusive bounds, in the order of the serialised key bytes. Absent = open. */
  readonly from?: K;
  readonly to?: K;
  readonly reverse?: boolean;
}

export interface ReadonlyKeyValueStore<K, V> extends StateStore {
  get(key: K): V | null;
  range(range?: KeyRange<K>): AsyncIterableIterator<readonly [K, V]>;
  prefixScan(prefix: Uint8Array): AsyncIterableIterator<readonly [K, V]>;
  approximateEntryCount(): number;
}

export interface KeyValueStore<K, V> extends ReadonlyKeyValueStore<K, V> {
  /** null deletes. */
  put(key: K, value: V | null): void;
  putIfAbsent(key: K, value: V): V | null;
  delete(key: K): V | null;
}

/**
 * One row of a timestamped store in memory: what `locate` gives, valid until the next `locate` of the same store.
 * `value === null` means absent.
 */
export interface StoreEntry<K, V> {
  readonly key: K;
  readonly value: V | null;
  /** Timestamp of the row in ms; -1 when absent. */
  readonly timestamp: number;
}

export interface ValueAndTimestamp<V> {
  readonly value: V;
  readonly timestamp: number;
}

/** Row changed since the last barrier, as `drainChanges` hands it over. `before` is the row as of the last barrier. */
export interface StoreChange<K, V> {
  readonly key: K;
  readonly value: V | null;
  readonly timestamp: number;
  readonly before: V | null;
}

/** The DSL's key-value store: each row has a timestamp. One map look-up a record: `locate`, then `write`. */
export interface TimestampedKeyValueStore<K, V> extends StateStore {
  get(key: K): V | null;
  getWithTimestamp(key: K): ValueAndTimestamp<V> | null;
  put(key: K, value: V | null, timestamp: number): void;
  /** The row of `key`, read from cache or engine; an absent row has value null. */
  locate(key: K): StoreEntry<K, V>;
  /** Replaces the row just located. null deletes. */
  write(entry: StoreEntry<K, V>, value: V | null, timestamp: number): void;
  range(range?: KeyRange<K>): AsyncIterableIterator<readonly [K, ValueAndTimestamp<V>]>;
  prefixScan(prefix: Uint8Array): AsyncIterableIterator<readonly [K, ValueAndTimestamp<V>]>;
  approximateEntryCount(): number;
  /**
   * Calls `visit` for every row changed since the last drain, in order of first change, with its value before and now. Rows written by `visit`
   * itself are visited in a later drain. Used by `emit: 'onCommit'`. Only stores built with `trackChanges` have it.
   */
  drainChanges(visit: (change: StoreChange<K, V>) => void | Promise<void>): void | Promise<void>;
}

export interface WindowEntry<K, V> extends StoreEntry<K, V> {
  readonly windowStart: number;
}

/** A row for each key and window start, kept for the retention after the highest window start seen. */
export interface TimestampedWindowStore<K, V> extends StateStore {
  readonly windowSize: number;
  readonly retention: number;
  /** Highest timestamp of any row ever written, restored ones included; -1 before the first. Window operators take up their stream time here. */
  observedTime?(): number;
  fetch(key: K, windowStart: number): V | null;
  fetchWithTimestamp(key: K, windowStart: number): ValueAndTimestamp<V> | null;
  put(key: K, value: V | null, windowStart: number, timestamp: number): void;
  locate(key: K, windowStart: number): WindowEntry<K, V>;
  write(entry: WindowEntry<K, V>, value: V | null, timestamp: number): void;
  /** Rows of one key with `from <= windowStart <= to`, ascending (or descending). */
  fetchRange(
    key: K,
    from: number,
    to: number,
    options?: { readonly reverse?: boolean },
  ): AsyncIterableIterator<readonly [number, ValueAndTimestamp<V>]>;
  /** Rows of all keys with `from <= windowStart <= to`, ordered by window start, then key bytes. */
  fetchAll(from: number, to: number): AsyncIterableIterator<readonly [K, number, ValueAndTimestamp<V>]>;
  drainChanges(visit: (change: StoreChange<K, V> & { readonly windowStart: number }) => void | Promise<void>): void | Promise<void>;
  /**
   * Final results: visits, in order of (window start, key bytes), the rows whose window start is at or below `upToStart` and above what was visited before.
   * Works on what is in memory and in the engine; nothing is expired before it was visited when the store is built with `closeTracking`.
   */
  drainClosed(upToStart: number, visit: (entry: WindowEntry<K, V>) => void | Promise<void>): void | Promise<void>;
  /** Counts windows with a start at or below it as visited: they left in an earlier life of the task. */
  skipClosed(upToStart: number): void;
}

/** A window store of plain values, for user processors (no timestamps in the rows). */
export interface WindowStore<K, V> extends StateStore {
  readonly windowSize: number;
  readonly retention: number;
  fetch(key: K, windowStart: number): V | null;
  put(key: K, value: V | null, windowStart: number): void;
  fetchRange(key: K, from: number, to: number, options?: { readonly reverse?: boolean }): AsyncIterableIterator<readonly [number, V]>;
  fetchAll(from: number, to: number): AsyncIterableIterator<readonly [K, number, V]>;
}

/** How a store is built: plain data, part of the topology. */
export interface StoreSpec {
  readonly name: string;
  readonly kind: StoreKind;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  /** null: the app's default. */
  readonly engine: 'memory' | 'leveldb' | null;
  /** False: nothing is restored after a crash. */
  readonly logged: boolean;
  /** Extra configs of the changelog topic. */
  readonly changelogConfigs: Readonly<globalThis.Record<string, string>>;
  /** Window kinds only, ms. */
  readonly windowSize?: number;
  readonly retention?: number;
  /** Keeps the list that `drainChanges` needs. */
  readonly trackChanges?: boolean;
  /** Keeps rows until `drainClosed` saw them. */
  readonly closeTracking?: boolean;
}
