/**
 * Broadcast state as processors see it: one map for the whole task, whatever the key.
 *
 * Every task has its own copy, made of the same broadcast records. Only those may change it: what a record of one task wrote, no other task would know of.
 */

/** Broadcast state as records of the data see it. Values are not to be changed: they are frozen, or copies where they can't be. */
export interface ReadonlyBroadcastState<UK, UV> {
  /** The value under `key`, or null. */
  get(key: UK): UV | null;
  /** Whether something is under `key`. */
  has(key: UK): boolean;
  /** In the order of their key bytes after a restart, before that in the order in which they were first put. */
  keys(): readonly UK[];
  /** In the order of `keys`. */
  values(): readonly UV[];
  /** In the order of `keys`. */
  entries(): readonly (readonly [UK, UV])[];
  /** Whether nothing is in it. */
  isEmpty(): boolean;
}

/** Broadcast state as broadcast records see it. */
export interface BroadcastState<UK, UV> extends ReadonlyBroadcastState<UK, UV> {
  /** A `value` of null removes. @throws TypeError when `key` is null or undefined, which is the record's failure */
  put(key: UK, value: UV | null): void;
  /** Removes what is under `key`. @throws TypeError as `put` */
  remove(key: UK): void;
  /** Removes all. */
  clear(): void;
}
