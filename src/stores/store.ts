/**
 * State stores as operators and users see them, and as a task manages them.
 *
 * Point operations are synchronous; range scans are async iterators. A store belongs to one task. Its engine (memory or LevelDB) only ever
 * holds committed epochs: what the epochs in work wrote lives in memory until the Kafka transaction has ended (DESIGN §5).
 */
import type { Serde } from '../serdes/serde.js';

/** Which interface a store has: `keyValue` is a `KeyValueStore`, and so on. */
export type StoreKind =
  | 'keyValue'
  | 'timestampedKeyValue'
  | 'window'
  | 'timestampedWindow'
  | 'session'
  | 'slidingWindow'
  | 'joinWindow'
  | 'versioned'
  | 'timeOrderedBuffer';

/** What every store has. `context.store` of a processor gives one by name. */
export interface StateStore {
  /** Unique in the topology; the changelog is `<applicationId>-<name>-changelog`. */
  readonly name: string;
  /** Says which of the interfaces it has. */
  readonly kind: StoreKind;
  /**
   * Whether `drainChanges` leaves out rows that are as they were.
   *
   * @internal
   */
  readonly comparesChanges?: boolean;
}

/** A part of a key-value store, in the order of the serialised key bytes. */
export interface KeyRange<K> {
  /** Inclusive bounds, in the order of the serialised key bytes. Absent = open. */
  readonly from?: K;
  /** Inclusive too. Absent = open. */
  readonly to?: K;
  /** Descending. Default false. */
  readonly reverse?: boolean;
}

/** The reading half of a key-value store. */
export interface ReadonlyKeyValueStore<K, V> extends StateStore {
  /** The value, or null. */
  get(key: K): V | null;
  /** Rows in the order of their key bytes. Without bounds: all. */
  range(range?: KeyRange<K>): AsyncIterableIterator<readonly [K, V]>;
  /** Rows whose key bytes begin with `prefix`, in the order of their key bytes. */
  prefixScan(prefix: Uint8Array): AsyncIterableIterator<readonly [K, V]>;
  /** Rows, as an estimate: right for memory, near for LevelDB. */
  approximateEntryCount(): number;
}

/** One row a key. */
export interface KeyValueStore<K, V> extends ReadonlyKeyValueStore<K, V> {
  /** null deletes. */
  put(key: K, value: V | null): void;
  /** Writes only when there is no row; gives the one that was there, or null. */
  putIfAbsent(key: K, value: V): V | null;
  /** `put` for each pair; null deletes. */
  putAll(rows: Iterable<readonly [key: K, value: V | null]>): void;
  /** Gives the row that was there, or null. */
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

/** A row of a timestamped store. */
export interface ValueAndTimestamp<V> {
  readonly value: V;
  /** ms since the epoch: of the record that wrote it, of aggregates the highest so far. */
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
  /** The value, or null. */
  get(key: K): V | null;
  /** The row, or null. */
  getWithTimestamp(key: K): ValueAndTimestamp<V> | null;
  /** `timestamp` in ms since the epoch. null deletes. */
  put(key: K, value: V | null, timestamp: number): void;
  /**
   * The row of `key`, read from cache or engine; an absent row has value null.
   *
   * @internal
   */
  locate(key: K): StoreEntry<K, V>;
  /**
   * Replaces the row just located. null deletes.
   *
   * @internal
   */
  write(entry: StoreEntry<K, V>, value: V | null, timestamp: number): void;
  /** Rows in the order of their key bytes. Without bounds: all. */
  range(range?: KeyRange<K>): AsyncIterableIterator<readonly [K, ValueAndTimestamp<V>]>;
  /** Rows whose key bytes begin with `prefix`, in the order of their key bytes. */
  prefixScan(prefix: Uint8Array): AsyncIterableIterator<readonly [K, ValueAndTimestamp<V>]>;
  /** Rows, as an estimate. */
  approximateEntryCount(): number;
  /**
   * Calls `visit` for every row changed since the last drain, in order of first change, with its value before and now. Rows written by `visit`
   * itself are visited in a later drain. Used by `emit: 'onCommit'`. Only stores built with `trackChanges` have it.
   *
   * @internal
   */
  drainChanges(visit: (change: StoreChange<K, V>) => void | Promise<void>): void | Promise<void>;
}

export interface WindowEntry<K, V> extends StoreEntry<K, V> {
  readonly windowStart: number;
}

/** A row for each key and window start, kept for the retention after the highest window start seen. */
export interface TimestampedWindowStore<K, V> extends StateStore {
  /** ms */
  readonly windowSize: number;
  /** ms that rows are kept after the highest window start seen. */
  readonly retention: number;
  /** Highest timestamp of any row ever written, restored ones included; -1 before the first. Window operators take up their stream time here. */
  observedTime?(): number;
  /** The value of that window, or null. */
  fetch(key: K, windowStart: number): V | null;
  /** The row of that window, or null. */
  fetchWithTimestamp(key: K, windowStart: number): ValueAndTimestamp<V> | null;
  /** Times in ms since the epoch. null deletes. */
  put(key: K, value: V | null, windowStart: number, timestamp: number): void;
  /**
   * As `TimestampedKeyValueStore.locate`.
   * @internal
   */
  locate(key: K, windowStart: number): WindowEntry<K, V>;
  /**
   * As `TimestampedKeyValueStore.write`.
   * @internal
   */
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
  /**
   * As `TimestampedKeyValueStore.drainChanges`.
   * @internal
   */
  drainChanges(visit: (change: StoreChange<K, V> & { readonly windowStart: number }) => void | Promise<void>): void | Promise<void>;
  /**
   * Final results: visits, in order of (window start, key bytes), the rows whose window start is at or below `upToStart` and above what was visited before.
   * Works on what is in memory and in the engine; nothing is expired before it was visited when the store is built with `closeTracking`.
   *
   * @internal
   */
  drainClosed(upToStart: number, visit: (entry: WindowEntry<K, V>) => void | Promise<void>): void | Promise<void>;
  /**
   * Counts windows with a start at or below it as visited: they left in an earlier life of the task.
   *
   * @internal
   */
  skipClosed(upToStart: number): void;
}

/** A window store of plain values, for user processors (no timestamps in the rows). */
export interface WindowStore<K, V> extends StateStore {
  /** ms */
  readonly windowSize: number;
  /** ms that rows are kept after the highest window start seen. */
  readonly retention: number;
  /** The value of that window, or null. */
  fetch(key: K, windowStart: number): V | null;
  /** `windowStart` in ms since the epoch. null deletes. */
  put(key: K, value: V | null, windowStart: number): void;
  /** Rows of one key with `from <= windowStart <= to`, ascending (or descending). */
  fetchRange(key: K, from: number, to: number, options?: { readonly reverse?: boolean }): AsyncIterableIterator<readonly [number, V]>;
  /** Rows of all keys with `from <= windowStart <= to`, ordered by window start, then key bytes. */
  fetchAll(from: number, to: number): AsyncIterableIterator<readonly [K, number, V]>;
}

/** One session of a key; both ends inclusive, ms. */
export interface SessionRow<V> {
  readonly start: number;
  readonly end: number;
  readonly value: V;
}

/**
 * Sessions by key and [start, end]. The sessions of one key that are near in time lie together, so that point operations stay synchronous. Changelog as Kafka
 * Streams' session stores: key bytes, 8-byte end, 8-byte start; the value plain.
 */
export interface SessionStore<K, V> extends StateStore {
  /** ms that sessions are kept after the highest session end seen. */
  readonly retention: number;
  /** Highest session end ever written, restored ones included; -1 before the first. */
  observedTime(): number;
  /** Sessions of one key with `end >= earliestEnd` and `start <= latestStart`, by end, then start. */
  findSessions(key: K, earliestEnd: number, latestStart: number): readonly SessionRow<V>[];
  /** The value of the session with just these ends, or null. */
  fetchSession(key: K, start: number, end: number): V | null;
  /** null deletes. */
  put(key: K, start: number, end: number, value: V | null): void;
  /** Sessions of all keys, by key bytes, then end. */
  fetchAll(): AsyncIterableIterator<readonly [K, SessionRow<V>]>;
  /**
   * As for window stores: every session written since the last drain, with its value before and now.
   *
   * @internal
   */
  drainChanges(
    visit: (change: {
      readonly key: K;
      readonly start: number;
      readonly end: number;
      readonly value: V | null;
      readonly before: V | null;
    }) => void | Promise<void>,
  ): void | Promise<void>;
  /**
   * Final results: sessions whose end is at or below `upToEnd` and above what was visited before, by end, then start, then key bytes.
   *
   * @internal
   */
  drainClosed(upToEnd: number, visit: (key: K, row: SessionRow<V>) => void | Promise<void>): void | Promise<void>;
  /**
   * Counts sessions with an end at or below it as visited: they left in an earlier life of the task.
   *
   * @internal
   */
  skipClosed?(upToEnd: number): void;
}

/** A window of a key; times in ms since the epoch. */
export interface SlidingWindowRow<V> {
  readonly windowStart: number;
  readonly value: V;
  readonly timestamp: number;
}

/** Windows that may start at any time (sliding windows): rows of one key near in time lie together, so that range reads of one key are synchronous. Changelog as window stores. */
export interface SlidingWindowStore<K, V> extends StateStore {
  /** ms */
  readonly windowSize: number;
  /** ms that rows are kept after the highest window start seen. */
  readonly retention: number;
  /** Highest timestamp of any row ever written, restored ones included; -1 before the first. */
  observedTime(): number;
  /** Rows of one key with `from <= windowStart <= to`, ascending. */
  rows(key: K, from: number, to: number): readonly SlidingWindowRow<V>[];
  /** The row of that window, or null. */
  fetch(key: K, windowStart: number): SlidingWindowRow<V> | null;
  /** Times in ms since the epoch. null deletes. */
  put(key: K, windowStart: number, value: V | null, timestamp: number): void;
  /** Rows of all keys with `from <= windowStart <= to`, by key bytes, then window start. */
  fetchAll(from: number, to: number): AsyncIterableIterator<readonly [K, SlidingWindowRow<V>]>;
  /**
   * As for window stores: every window written since the last drain, with its value before and now.
   * @internal
   */
  drainChanges(
    visit: (change: {
      readonly key: K;
      readonly windowStart: number;
      readonly value: V | null;
      readonly timestamp: number;
      readonly before: V | null;
    }) => void | Promise<void>,
  ): void | Promise<void>;
  /**
   * As for window stores: by window start, then key bytes. Only with `closeTracking`.
   *
   * @internal
   */
  drainClosed(upToStart: number, visit: (key: K, row: SlidingWindowRow<V>) => void | Promise<void>): void | Promise<void>;
  /**
   * Counts windows with a start at or below it as visited: they left in an earlier life of the task.
   *
   * @internal
   */
  skipClosed?(upToStart: number): void;
}

/** The records of one side of a stream-stream join. Records with equal key and time are all kept, in order of arrival. Changelog as window stores with `retainDuplicates`. */
export interface JoinWindowStore<K, V> extends StateStore {
  /** ms that records are kept after the highest timestamp seen. */
  readonly retention: number;
  /** Highest timestamp ever put, restored ones included; -1 before the first. */
  observedTime(): number;
  /** `timestamp` in ms since the epoch. A record with the same key and time stays. */
  put(key: K, value: V, timestamp: number): void;
  /** Records of one key with `from <= timestamp <= to`, by time, then arrival. */
  fetch(key: K, from: number, to: number): readonly { readonly timestamp: number; readonly value: V }[];
}

/** A version of a row. */
export interface VersionedRecord<V> {
  readonly value: V;
  /** From when it is valid, ms since the epoch. */
  readonly timestamp: number;
  /** When the next version begins; null for the latest. */
  readonly validTo: number | null;
}

/** KIP-889. Rows of the past are kept for `historyRetention` ms of stream time. Changelog: key, plain value, the record's time. */
export interface VersionedKeyValueStore<K, V> extends StateStore {
  /** ms */
  readonly historyRetention: number;
  /** Returns when the version put ends: a time, null when it is the latest, or 'rejected' when it is older than the history. null deletes. */
  put(key: K, value: V | null, timestamp: number): number | null | 'rejected';
  /** Ends the row at `timestamp`; gives the version that was valid then, or null. */
  delete(key: K, timestamp: number): VersionedRecord<V> | null;
  /** The latest version, or null. */
  get(key: K): VersionedRecord<V> | null;
  /** The version valid at `asOf`, or null. Before the history: the latest one, if it is that old. */
  getAsOf(key: K, asOf: number): VersionedRecord<V> | null;
  /** Versions valid at some time in [from, to], newest first unless `ascending`. */
  getRange(key: K, from: number, to: number, options?: { readonly ascending?: boolean }): readonly VersionedRecord<V>[];
}

/**
 * Rows in order of (time, rank, key bytes), for what waits for stream time: unmatched join rows, suppressed results, stream rows of a join with grace. Rows are found
 * by (time, rank, key) or, in stores built with `byKey`, by key alone (then a key has one row, and a new one replaces it, keeping its time unless told otherwise).
 */
export interface TimeOrderedBuffer<K, V> extends StateStore {
  /** Rows. */
  readonly size: number;
  /** Bytes of keys and values as serialised. */
  readonly byteSize: number;
  /**
   * Adds or replaces a row.
   *
   * @param time ms since the epoch
   * @param rank orders rows of one time: a small number of your own, 0 if you need none
   */
  put(time: number, rank: number, key: K, value: V): void;
  /** The value, or null. */
  get(time: number, rank: number, key: K): V | null;
  /** Only with `byKey`. */
  find(key: K): { readonly time: number; readonly value: V } | null;
  /** Takes the row out, if it is there. */
  delete(time: number, rank: number, key: K): void;
  /** Time of the first row; Infinity when there is none. */
  firstTime(): number;
  /**
   * Takes rows out from the front while `more` says so; 'skip' leaves a row where it is and goes on with the next. `visit` may return a promise, which is
   * awaited before the next row. A row leaves after its visit: whoever looks into the buffer meanwhile still finds it.
   */
  drain(
    more: (time: number, rank: number, key: K) => boolean | 'skip',
    visit: (time: number, rank: number, key: K, value: V) => void | Promise<void>,
  ): void | Promise<void>;
}

/** How a store is built: plain data, part of the topology. */
export interface StoreSpec {
  /** Unique in the topology: letters, digits, `.`, `_`, `-`. */
  readonly name: string;
  readonly kind: StoreKind;
  /** null: the app's default. */
  readonly keySerde: Serde<unknown> | null;
  /** null: the app's default. */
  readonly valueSerde: Serde<unknown> | null;
  /** null: the app's default. */
  readonly engine: 'memory' | 'leveldb' | null;
  /** False: nothing is restored after a crash. */
  readonly logged: boolean;
  /**
   * Which task has which rows: `byKey` that of the record with the row's key, `everywhere` each task all of them; `split` and `union` are lists of a task, under their places from 0, of
   * which each element goes to one task, or all to each. Absent: whoever writes the store knows. For what deals rows out over another number of tasks.
   */
  readonly rows?: 'byKey' | 'everywhere' | 'split' | 'union';
  /** Extra configs of the changelog topic. */
  readonly changelogConfigs: Readonly<globalThis.Record<string, string>>;
  /** Kinds by key only. Rows that come and go within an epoch leave no deletion in the changelog. */
  readonly briefRowsUnlogged?: boolean;
  /** Window kinds only, ms. */
  readonly windowSize?: number;
  /** Window kinds only, ms. */
  readonly retention?: number;
  /** Keeps the list that `drainChanges` needs; `ifEmittingOnCommit` leaves it to the app's `emit`. */
  readonly trackChanges?: boolean | 'ifEmittingOnCommit';
  /** With `trackChanges`: `drainChanges` leaves rows out whose bytes are those of the last drain (`emitOnChange`). Operators that emit at once drain each write. */
  readonly comparesChanges?: boolean;
  /** Keeps rows until `drainClosed` saw them. */
  readonly closeTracking?: boolean;
  /** Versioned kind only, ms. */
  readonly historyRetention?: number;
  /** Versioned kind only, ms: span of the rows that old versions lie in and leave with. Default as Kafka Streams. */
  readonly segmentInterval?: number;
  /** Time-ordered buffers only: one row a key. */
  readonly byKey?: boolean;
  /** Kind `keyValue` only: the store keeps that many rows, those used last. */
  readonly maxEntries?: number;
}
