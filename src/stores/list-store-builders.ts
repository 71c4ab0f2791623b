/** Specs of the stores that keep several things of a key: sessions, sliding windows, join records, versions, rows in wait; and of the bounded key-value store. */
import { shown, anything, flag, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import { specOf, storeShape } from './store-builders.js';
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

const sessionShape = { ...storeShape, retention: anything, closeTracking: flag } satisfies ShapeOf<SessionStoreOptions<unknown, unknown>>;
const slidingShape = { ...sessionShape, windowSize: anything } satisfies ShapeOf<SlidingWindowStoreOptions<unknown, unknown>>;
const joinShape = { ...storeShape, retention: anything } satisfies ShapeOf<JoinWindowStoreOptions<unknown, unknown>>;
const versionedShape = { ...storeShape, historyRetention: anything, segmentInterval: anything } satisfies ShapeOf<
  VersionedStoreOptions<unknown, unknown>
>;
const bufferShape = { ...storeShape, byKey: flag } satisfies ShapeOf<TimeOrderedBufferOptions<unknown, unknown>>;
const { name, keySerde, valueSerde, logged, changelogConfigs } = storeShape;
const lruShape = { name, keySerde, valueSerde, logged, changelogConfigs, maxEntries: anything } satisfies ShapeOf<
  LruStoreOptions<unknown, unknown>
>;

/** Sessions by key, start and end. Errors: MILL_TOPOLOGY_INVALID. */
export function sessionStore<K = unknown, V = unknown>(options: SessionStoreOptions<K, V>): StoreSpec {
  requireOptions('stores.session', options, sessionShape);
  const { retention, closeTracking = false } = options;
  checkTime(options.name, 'retention', retention, 0);
  return Object.freeze({ ...specOf('session', options, sessionShape), retention, closeTracking });
}

/** Windows that may start at any time. Errors: MILL_TOPOLOGY_INVALID. */
export function slidingWindowStore<K = unknown, V = unknown>(options: SlidingWindowStoreOptions<K, V>): StoreSpec {
  requireOptions('stores.slidingWindow', options, slidingShape);
  const { windowSize, retention, closeTracking = false } = options;
  checkTime(options.name, 'windowSize', windowSize, 0);
  checkTime(options.name, 'retention', retention, windowSize);
  return Object.freeze({ ...specOf('slidingWindow', options, slidingShape), windowSize, retention, closeTracking });
}

/** All records of a key by time, also those with equal times. Errors: MILL_TOPOLOGY_INVALID. */
export function joinWindowStore<K = unknown, V = unknown>(options: JoinWindowStoreOptions<K, V>): StoreSpec {
  requireOptions('stores.joinWindow', options, joinShape);
  checkTime(options.name, 'retention', options.retention, 0);
  return Object.freeze({ ...specOf('joinWindow', options, joinShape), retention: options.retention });
}

/** A key-value store that knows the past (KIP-889). Errors: MILL_TOPOLOGY_INVALID. */
export function versionedStore<K = unknown, V = unknown>(options: VersionedStoreOptions<K, V>): StoreSpec {
  requireOptions('stores.versioned', options, versionedShape);
  const { name: storeName, historyRetention, segmentInterval } = options;
  checkTime(storeName, 'historyRetention', historyRetention, 0);
  if (segmentInterval !== undefined) checkTime(storeName, 'segmentInterval', segmentInterval, 1);
  const spec = { ...specOf('versioned', options, versionedShape), historyRetention };
  return Object.freeze(segmentInterval === undefined ? spec : { ...spec, segmentInterval });
}

/** Rows in order of time that wait to be taken out. Errors: MILL_TOPOLOGY_INVALID. */
export function timeOrderedBuffer<K = unknown, V = unknown>(options: TimeOrderedBufferOptions<K, V>): StoreSpec {
  return Object.freeze({ ...specOf('timeOrderedBuffer', options, bufferShape), byKey: options.byKey ?? false });
}

/** A key-value store in memory that keeps the rows used last. Errors: MILL_TOPOLOGY_INVALID. */
export function lruStore<K = unknown, V = unknown>(options: LruStoreOptions<K, V>): StoreSpec {
  requireOptions('stores.lru', options, lruShape);
  const { maxEntries } = options;
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${options.name}: maxEntries must be a whole number of at least 1, not ${shown(maxEntries)}`,
    );
  }
  return Object.freeze({ ...specOf('keyValue', { ...options, engine: 'memory' }, { ...storeShape, maxEntries: anything }), maxEntries });
}

function checkTime(name: string, what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `Store ${name}: ${what} must be a whole number of milliseconds of at least ${least}, not ${shown(value)}`,
  );
}
