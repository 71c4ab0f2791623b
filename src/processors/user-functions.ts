/**
 * The shapes of user functions as operators call them: value first, and each may answer with a promise.
 * The task then waits; nothing else of it runs until the promise is settled, so order is kept.
 */
import type { RecordMeta } from './record-meta.js';

/** A value, or a promise of it: the task then waits, and order is kept. */
export type Awaitable<T> = T | PromiseLike<T>;

/**
 * Holds `R`, what a user function gives, to the rule that it is a value, or null for none: `R extends Given<R>` fails where the compiler knows that it may be `undefined`, as of a function
 * without a `return` or of an optional field. `unknown`, `any` and type parameters pass; what they give is looked at when they run.
 */
// The question stands in tuples and inside of another one: of a type parameter the compiler then takes the answer for no, so that generic functions over streams compile. Without
// `strictNullChecks` everything may be undefined, 0 too.
export type Given<R> = (
  [unknown] extends [R] ? false : [undefined] extends [R] ? ([undefined] extends [0] ? false : true) : false
) extends true
  ? 'the function may give undefined: it has to give a value, or null for none'
  : unknown;

/** Says whether something holds of a record. */
export type Predicate<K, V> = (value: V, key: K, meta: RecordMeta) => Awaitable<boolean>;
/** Makes something new out of a record. */
export type ValueMapper<K, V, R> = (value: V, key: K, meta: RecordMeta) => Awaitable<R>;
/** Makes a new key and a new value out of a record. */
export type RecordMapper<K, V, KR, VR> = (value: V, key: K, meta: RecordMeta) => Awaitable<readonly [KR, VR]>;
/** Makes any number of records out of one. */
export type FlatRecordMapper<K, V, KR, VR> = (value: V, key: K, meta: RecordMeta) => Awaitable<Iterable<readonly [KR, VR]>>;
/** Makes any number of values out of one record; they keep its key. */
export type FlatValueMapper<K, V, R> = (value: V, key: K, meta: RecordMeta) => Awaitable<Iterable<R>>;
/** Does something with a record; what it gives is awaited and then forgotten. */
export type RecordAction<K, V> = (value: V, key: K, meta: RecordMeta) => unknown;

/** Gives the aggregate of a key before its first record. */
export type Initializer<A> = () => Awaitable<A>;
/** null deletes the row. */
export type Aggregator<K, V, A> = (aggregate: A, value: V, key: K) => Awaitable<A | null>;
/** Combines the value so far with a new one; null deletes the row. */
export type Reducer<K, V> = (aggregate: V, value: V, key: K) => Awaitable<V | null>;
/** Makes the result of a join out of the value, the other one and the key. */
export type TableJoiner<K, V, T, R> = (value: V, tableValue: T, key: K) => Awaitable<R>;
/** As `TableJoiner`, for a row of a global table: `rowKey` is what `keyOf` gave (KIP-1340). */
export type GlobalTableJoiner<K, V, KG, T, R> = (value: V, tableValue: T, key: K, rowKey: KG) => Awaitable<R>;
/** Joins two rows or records as the engine calls it: either side may be null, depending on the kind of join. */
export type RowJoiner<K, V, VO, R> = (value: V | null, otherValue: VO | null, key: K) => Awaitable<R>;
/** Which group a row of a table belongs to, and with which value; null: none. */
export type TableGrouper<K, V, KR, VR> = (value: V, key: K, meta: RecordMeta) => Awaitable<readonly [KR, VR] | null>;
/** Combines the aggregates of two sessions that have become one. */
export type SessionMerger<K, A> = (one: A, other: A, key: K) => Awaitable<A | null>;
