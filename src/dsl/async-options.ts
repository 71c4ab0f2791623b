import type { AsyncCall } from '../processors/async/async-operator.js';
import type { AsyncCallOptions } from '../processors/async/async-options.js';
import type { SerdeFor } from '../serdes/serde-for.js';
import type { NamedOptions, ProcessOptions, RecordOptions, ValueOptions } from './options.js';

/** How an asynchronous operator calls its function. `name` also names the store of unfinished records: `<name>-unfinished`. */
export interface AsyncOptions<K, V> extends NamedOptions, AsyncCallOptions {
  /** Serde of the records that come in, for the store of those that are unfinished at a commit. Default: the serde that the stream carries, else the app's. */
  readonly inputKeySerde?: SerdeFor<K>;
  /** The same for their values. */
  readonly inputValueSerde?: SerdeFor<V>;
}

/** Of `mapValuesAsync` and `flatMapValuesAsync`. */
export type AsyncValueOptions<K, V, VR> = AsyncOptions<K, V> & ValueOptions<VR>;
/** Of `mapAsync` and `flatMapAsync`. */
export type AsyncRecordOptions<K, V, KR, VR> = AsyncOptions<K, V> & RecordOptions<KR, VR>;
/** Of `processAsync`. */
export type AsyncProcessOptions<K, V, KR, VR> = AsyncOptions<K, V> & ProcessOptions<KR, VR>;

/** A function that an asynchronous operator calls for each record. It may also answer without a promise. */
export type AsyncMapper<K, V, R> = (value: V, key: K, call: AsyncCall) => R | PromiseLike<R>;

/** How long what a lookup has found is used again. The cache lies in a store of the operator, `<name>-cache`: logged, restored and committed with the epoch. */
export interface LookupCacheOptions<VL> {
  /** How long a row is used after it was asked for, ms of the wall clock; the time while nothing runs counts. `Infinity`: until others push it out. */
  readonly ttl: number;
  /** The same for a key that has no row; 0: it is asked for each time. Default: `ttl`. */
  readonly missingTtl?: number;
  /** Keys in the cache of each task, those without a row too; beyond that the oldest leave. Default 10 000. */
  readonly maxRows?: number;
  /** Serde of the rows. It must give back what it was given: else MILL_SERDE, when the row is found. Each record gets a row of its own, as the serde gives it back. Default: JSON. */
  readonly valueSerde?: SerdeFor<VL>;
}

/** Of `lookupJoin` and `leftLookupJoin`. */
export interface LookupJoinOptions<K, V, KL, VL, VR> extends AsyncOptions<K, V>, ValueOptions<VR> {
  /** The key to look up; null joins nothing. */
  keyOf(value: V, key: K): KL | null;
  /** Serde of the keys looked up, for the cache and to tell objects apart. Default: JSON. */
  readonly lookupKeySerde?: SerdeFor<KL>;
  /** Default: only records that ask for a key while it is being asked for share the call. */
  readonly cache?: LookupCacheOptions<VL>;
  /**
   * A lookup that finds no row is repeated with the `attempts` and pauses of `retry`, for rows that come a little late; there is none when the last attempt finds none. `retry.when` is
   * asked about errors only. Default false.
   */
  readonly retryMissing?: boolean;
}
