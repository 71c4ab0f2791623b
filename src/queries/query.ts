/** Queries as data: what to read of a store, and, in the type, what the answer is. Made by `queries`. */
import { MillraceError } from '../errors.js';
import type { OptionShape } from '../errors/checked-options.js';
import type { ValueAndTimestamp, VersionedRecord } from '../stores/store.js';
import { decodeCursor } from './element-source.js';
import type { QueryIterator } from './query-iterator.js';
import { checkQueryOptions, queryShapes } from './query-shapes.js';
import type { KeyValueRow, SessionWindowRow, WindowRow } from './rows.js';

/** Bounds of keys, in the order of their serialised bytes. */
export interface KeyRangeOptions<K> {
  /** Inclusive. Absent = open. */
  readonly from?: K;
  /** Inclusive. Absent = open. */
  readonly to?: K;
  /** Keys whose serialised bytes begin so; a string stands for its UTF-8 bytes. */
  readonly prefix?: Uint8Array | string;
}

/** Bounds of times. */
export interface TimeRangeOptions {
  /** Inclusive, ms. Absent = open. */
  readonly from?: number;
  /** Inclusive, ms. Absent = open. */
  readonly to?: number;
}

/** Direction, size and beginning of what a range gives. */
export interface PageOptions {
  /** Descending. Default false. */
  readonly reverse?: boolean;
  /** At most so many rows. Default: all. */
  readonly limit?: number;
  /** Go on behind the row that this `cursor` of an earlier answer stands for. */
  readonly after?: string;
}

/** Options of a range of keys. */
export interface RangeOptions<K> extends KeyRangeOptions<K>, PageOptions {}
/** Options of a range of one key's windows or sessions. */
export interface TimedPageOptions extends TimeRangeOptions, PageOptions {}
/** Options of a range of windows or sessions of all keys. */
export interface TimedRangeOptions<K> extends TimeRangeOptions, PageOptions {
  /** Default: all keys. */
  readonly keys?: KeyRangeOptions<K>;
}

/** A query as plain data. */
export type QueryBody =
  | { readonly kind: 'key' | 'timestampedKey'; readonly key: unknown }
  | { readonly kind: 'range'; readonly options: RangeOptions<unknown> }
  | { readonly kind: 'window'; readonly key: unknown; readonly start: number }
  | { readonly kind: 'windowKey'; readonly key: unknown; readonly options: TimedPageOptions }
  | { readonly kind: 'windowRange'; readonly options: TimedRangeOptions<unknown> }
  | { readonly kind: 'session'; readonly key: unknown; readonly start: number; readonly end: number }
  | { readonly kind: 'sessionKey'; readonly key: unknown; readonly options: TimedPageOptions }
  | { readonly kind: 'sessionRange'; readonly options: TimedRangeOptions<unknown> }
  | { readonly kind: 'versionedKey'; readonly key: unknown; readonly asOf: number }
  | { readonly kind: 'versionHistory'; readonly key: unknown; readonly from: number; readonly to: number; readonly ascending: boolean };

export type QueryKind = QueryBody['kind'];

declare const answer: unique symbol;

/** A query whose answer, from one partition, is an `R`. */
export type Query<R> = QueryBody & { readonly [answer]?: R };

/**
 * Makes queries for `StreamsApp.query`. Errors: MILL_QUERY_INVALID for limits, times and cursors that make no sense.
 *
 * @example
 * const result = await app.query({ store: 'counts', query: queries.key<string, number>('to') });
 */
export const queries = Object.freeze({
  /** The value of a key; null: none. Key-value stores. */
  key: <K, V>(key: K): Query<V | null> => ({ kind: 'key', key }),

  /** Value and timestamp of a key. Stores of the DSL's tables. */
  timestampedKey: <K, V>(key: K): Query<ValueAndTimestamp<V> | null> => ({ kind: 'timestampedKey', key }),

  /** Rows by key bytes. Key-value stores. */
  range: <K, V>(options: RangeOptions<K> = {}): Query<QueryIterator<KeyValueRow<K, V>>> => ({
    kind: 'range',
    options: checkPage('range', options, queryShapes.range),
  }),

  /** The value of one window of a key. Window stores, those of sliding windows too. */
  window: <K, V>(key: K, start: number): Query<V | null> => ({ kind: 'window', key, start: checkTime('start', start) }),

  /** Windows of a key that start in the range, by start. Window stores. */
  windowKey: <K, V>(key: K, options: TimedPageOptions = {}): Query<QueryIterator<WindowRow<K, V>>> => ({
    kind: 'windowKey',
    key,
    options: checkPage('windowKey', options, queryShapes.timedPage),
  }),

  /** Windows of all keys that start in the range, by start, then key bytes; sliding windows by key bytes, then start. Window stores. */
  windowRange: <K, V>(options: TimedRangeOptions<K> = {}): Query<QueryIterator<WindowRow<K, V>>> => ({
    kind: 'windowRange',
    options: checkPage('windowRange', options, queryShapes.timedRange),
  }),

  /** The value of one session. Session stores. */
  session: <K, V>(key: K, start: number, end: number): Query<V | null> => ({
    kind: 'session',
    key,
    start: checkTime('start', start),
    end: checkTime('end', end),
  }),

  /** Sessions of a key that overlap the range, by end. Session stores. */
  sessionKey: <K, V>(key: K, options: TimedPageOptions = {}): Query<QueryIterator<SessionWindowRow<K, V>>> => ({
    kind: 'sessionKey',
    key,
    options: checkPage('sessionKey', options, queryShapes.timedPage),
  }),

  /** Sessions of all keys that overlap the range, by key bytes, then end. Session stores. */
  sessionRange: <K, V>(options: TimedRangeOptions<K> = {}): Query<QueryIterator<SessionWindowRow<K, V>>> => ({
    kind: 'sessionRange',
    options: checkPage('sessionRange', options, queryShapes.timedRange),
  }),

  /** The version valid at `asOf` (ms), by default the latest. Versioned stores. */
  versionedKey: <K, V>(key: K, options: { readonly asOf?: number } = {}): Query<VersionedRecord<V> | null> => {
    checkQueryOptions('versionedKey', options, queryShapes.asOf);
    return { kind: 'versionedKey', key, asOf: options.asOf ?? Infinity };
  },

  /** Versions valid at some time of the range, newest first unless `ascending`. Versioned stores. */
  versionHistory: <K, V>(
    key: K,
    options: TimeRangeOptions & { readonly ascending?: boolean } = {},
  ): Query<readonly VersionedRecord<V>[]> => {
    checkQueryOptions('versionHistory', options, queryShapes.history);
    const { from = -Infinity, to = Infinity, ascending = false } = options;
    return { kind: 'versionHistory', key, from, to, ascending };
  },
});

function checkTime(name: string, value: number): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new MillraceError('MILL_QUERY_INVALID', `${name} must be a time in ms, not ${String(value)}.`);
}

function checkPage<O extends PageOptions>(what: string, options: O, shape: OptionShape): O {
  checkQueryOptions(what, options, shape);
  const { limit, after } = options;
  if (after !== undefined) decodeCursor(after);
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new MillraceError('MILL_QUERY_INVALID', `limit must be a whole number of at least 1, not ${limit}.`);
  }
  return options;
}
