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
  clear(): void;
}

export interface ListState<V> {
  get(): V[];
  add(value: V): void;
  addAll(values: readonly V[]): void;
  /** Replaces all elements. */
  update(values: readonly V[]): void;
  clear(): void;
}

export interface MapState<UK, UV> {
  get(key: UK): UV | null;
  /** null removes. */
  put(key: UK, value: UV | null): void;
  remove(key: UK): void;
  has(key: UK): boolean;
  keys(): UK[];
  values(): UV[];
  /** In the order in which the keys were first put. */
  entries(): [UK, UV][];
  isEmpty(): boolean;
  clear(): void;
}

export interface ReducingState<V> {
  get(): V | null;
  add(value: V): void;
  clear(): void;
}

export interface AggregatingState<In, Out> {
  /** null when nothing was added. */
  get(): Out | null;
  add(value: In): void;
  clear(): void;
}
