import type { AsyncCall } from '../processors/async/async-operator.js';
import type { AsyncCallOptions } from '../processors/async/async-options.js';
import type { Serde } from '../serdes/serde.js';
import type { NamedOptions, ProcessOptions, RecordOptions, ValueOptions } from './options.js';

/** How an asynchronous operator calls its function. `name` also names the store of unfinished records: `<name>-unfinished`. */
export interface AsyncOptions<K, V> extends NamedOptions, AsyncCallOptions {
  /** Serde of the records that come in, for the store of those that are unfinished at a commit. Default: the serde that the stream carries, else the app's. */
  readonly inputKeySerde?: Serde<K>;
  /** The same for their values. */
  readonly inputValueSerde?: Serde<V>;
}

/** Of `mapValuesAsync` and `flatMapValuesAsync`. */
export type AsyncValueOptions<K, V, VR> = AsyncOptions<K, V> & ValueOptions<VR>;
/** Of `mapAsync` and `flatMapAsync`. */
export type AsyncRecordOptions<K, V, KR, VR> = AsyncOptions<K, V> & RecordOptions<KR, VR>;
/** Of `processAsync`. */
export type AsyncProcessOptions<K, V, KR, VR> = AsyncOptions<K, V> & ProcessOptions<KR, VR>;

/** A function that an asynchronous operator calls for each record. It may also answer without a promise. */
export type AsyncMapper<K, V, R> = (value: V, key: K, call: AsyncCall) => R | PromiseLike<R>;
