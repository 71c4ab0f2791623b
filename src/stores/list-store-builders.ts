/** Specs of the stores that keep several things of a key: sessions, sliding windows, join records, versions, rows in wait; and of the bounded key-value store. */
import { MillraceError } from '../errors.js';
import { specOf } from './store-builders.js';
import type { StoreOptions } from './store-builders.js';
import type { StoreSpec } from './store.js';

/** For `stores.session`. */
export interface SessionStoreOptions<K, V> extends StoreOptions<K, V> {
  /** Milliseconds that sessions are kept after the highest session end seen; Kafka Streams takes inactivity gap + grace. */
  readonly retention: number;
  /** Keeps sessions until `drainClosed` saw them. Default false. */
  readonly closeTracking?: boolean;
}

/** For `stores.slidingWindow`. */
export interface SlidingWindowStoreOptions<K, V> extends StoreOptions<K, V> {
  /** Milliseconds. */
  readonly windowSize: number;
  /** Milliseconds that windows are kept after the highest window start seen; at least `windowSize`. */
  readonly retention: number;
  /** Keeps windows until `drainClosed` saw them. Default false. */
  readonly closeTracking?: boolean;
}

/** For `stores.joinWindow`. */
export interface JoinWindowStoreOptions<K, V> extends StoreOptions<K, V> {
  /** Milliseconds that records are kept after the highest timestamp seen; Kafka Streams takes before + after + grace. */
  readonly retention: number;
}

/** For `stores.versioned`. */
export interface VersionedStoreOptions<K, V> extends StoreOptions<K, V> {
  /** Milliseconds that versions of the past are kept, and that a put may be late. */
  readonly historyRetention: number;
  /** Milliseconds: old versions leave in steps of it. Default as Kafka Streams: a third of the history to a twenty-fourth, at least 2 s. */
  readonly segmentInterval?: number;
}

/** For `stores.timeOrderedBuffer`. */
export interface TimeOrderedBufferOptions<K, V> extends StoreOptions<K, V> {
  /** One row a key, found by key. Default false: a row for each time, rank and key. */
  readonly byKey?: boolean;
}

/** For `stores.lru`. */
export interface LruStoreOptions<K, V> extends Omit<StoreOptions<K, V>, 'engine' | 'trackChanges'> {
  /** Rows kept: those read or written last. */
  readonly maxEntries: number;
}

/** Sessions by key, start and end. Errors: MILL_TOPOLOGY_INVALID. */
export function sessionStore<K = unknown, V = unknown>(options: SessionStoreOptions<K, V>): StoreSpec {
  const { retention, closeTracking = false } = options;
  checkTime(options.name, 'retention', retention, 0);
  return Object.freeze({ ...specOf('session', options), retention, closeTracking });
}

/** Windows that may start at any time. Errors: MILL_TOPOLOGY_INVALID. */
export function slidingWindowStore<K = unknown, V = unknown>(options: SlidingWindowStoreOptions<K, V>): StoreSpec {
  const { windowSize, retention, closeTracking = false } = options;
  checkTime(options.name, 'windowSize', windowSize, 0);
  checkTime(options.name, 'retention', retention, windowSize);
  return Object.freeze({ ...specOf('slidingWindow', options), windowSize, retention, closeTracking });
}

/** All records of a key by time, also those with equal times. Errors: MILL_TOPOLOGY_INVALID. */
export function joinWindowStore<K = unknown, V = unknown>(options: JoinWindowStoreOptions<K, V>): StoreSpec {
  checkTime(options.name, 'retention', options.retention, 0);
  return Object.freeze({ ...specOf('joinWindow', options), retention: options.retention });
}

/** A key-value store that knows the past (KIP-889). Errors: MILL_TOPOLOGY_INVALID. */
export function versionedStore<K = unknown, V = unknown>(options: VersionedStoreOptions<K, V>): StoreSpec {
  const { name, historyRetention, segmentInterval } = options;
  checkTime(name, 'historyRetention', historyRetention, 0);
  if (segmentInterval !== undefined) checkTime(name, 'segmentInterval', segmentInterval, 1);
  const spec = { ...specOf('versioned', options), historyRetention };
  return Object.freeze(segmentInterval === undefined ? spec : { ...spec, segmentInterval });
}

/** Rows in order of time that wait to be taken out. Errors: MILL_TOPOLOGY_INVALID. */
export function timeOrderedBuffer<K = unknown, V = unknown>(options: TimeOrderedBufferOptions<K, V>): StoreSpec {
  return Object.freeze({ ...specOf('timeOrderedBuffer', options), byKey: options.byKey ?? false });
}

/** A key-value store in memory that keeps the rows used last. Errors: MILL_TOPOLOGY_INVALID. */
export function lruStore<K = unknown, V = unknown>(options: LruStoreOptions<K, V>): StoreSpec {
  const { maxEntries } = options;
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${options.name}: maxEntries must be a whole number of at least 1, not ${maxEntries}`,
    );
  }
  return Object.freeze({ ...specOf('keyValue', { ...options, engine: 'memory' }), maxEntries });
}

function checkTime(name: string, what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `Store ${name}: ${what} must be a whole number of milliseconds of at least ${least}, not ${value}`,
  );
}
