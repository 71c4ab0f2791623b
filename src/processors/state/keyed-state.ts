/**
 * Keyed state as a processor sees it: always that of the current key, and no other key's.
 *
 * What is read is a copy: changing it changes nothing until it is written with `update`, `add` or `put`.
 */
export interface ValueState<V> {
  /** The value, else the descriptor's default, else null. */
  value(): V | null;
  /** null clears. */
  update(value: V | null): void;
  /** Removes the value. */
  clear(): void;
}

/** A list of the current key. */
export interface ListState<V> {
  /** All elements that are not expired, in order of their adding. */
  get(): V[];
  /** Adds one at the end. @throws TypeError when it is null or undefined, which is the record's failure */
  add(value: V): void;
  /** Adds all at the end. @throws TypeError when one of them is null or undefined, or they are no array; then none is added */
  addAll(values: readonly V[]): void;
  /** Replaces all elements; none clears. @throws TypeError as `addAll`; then the list stays as it was */
  update(values: readonly V[]): void;
  /** Removes all. */
  clear(): void;
}

/** A map of the current key. */
export interface MapState<UK, UV> {
  /** The value under `key`, or null. */
  get(key: UK): UV | null;
  /** A `value` of null removes. @throws TypeError when `key` is null or undefined, which is the record's failure */
  put(key: UK, value: UV | null): void;
  /** Removes what is under `key`. @throws TypeError as `put` */
  remove(key: UK): void;
  /** Whether something is under `key`. */
  has(key: UK): boolean;
  /** In the order in which they were first put. */
  keys(): UK[];
  /** In the order in which their keys were first put. */
  values(): UV[];
  /** In the order in which the keys were first put. */
  entries(): [UK, UV][];
  /** Whether nothing is in it that may be seen. Renews nothing. */
  isEmpty(): boolean;
  /** Removes all. */
  clear(): void;
}

/** One value of the current key, combined out of all that were added. */
export interface ReducingState<V> {
  /** null when nothing was added. */
  get(): V | null;
  /** Combines `value` with what is there. @throws TypeError when it is null or undefined, which is the record's failure */
  add(value: V): void;
  /** Removes the value. */
  clear(): void;
}

/** One accumulator of the current key, made of all that was added. */
export interface AggregatingState<In, Out> {
  /** null when nothing was added. */
  get(): Out | null;
  /** Adds `value` to the accumulator. */
  add(value: In): void;
  /** Removes the accumulator. */
  clear(): void;
}
