/**
 * Where keyed state lies: rows by state, current key and namespace (a window, or nothing). Two implementations, in memory and over a store of the task; the
 * handles are the same above both.
 *
 * A row belongs to the handle that reads it, which may change it in place if it puts it back. The backend serialises rows, if at all, at the barrier.
 */
import type { AnyStateDescriptor } from './state-descriptor.js';

/** Value, reducing and aggregating state. */
export interface ValueRow {
  readonly state: string;
  value: unknown;
  updatedAt: number;
}

/** The parts of a list or map behind its first one: `first` to `next - 1`. */
export interface PartRange {
  first: number;
  next: number;
}

interface PartedRow {
  readonly state: string;
  /** null: there is this row alone, or it is not the first. See `row-parts.ts`. */
  parts: PartRange | null;
  /** As stored: what they were when the row was last written or read, and those of elements that were added since. Not stored itself. */
  storedBytes: number;
}

export interface ListRow extends PartedRow {
  values: unknown[];
  /** As long as `values`. */
  updatedAt: number[];
}

export interface MapEntryRow {
  readonly key: unknown;
  value: unknown;
  updatedAt: number;
}

export interface MapRow extends PartedRow {
  /** By the key itself, or by its bytes when it is an object. */
  readonly entries: Map<unknown, MapEntryRow>;
}

export type StateRow = ValueRow | ListRow | MapRow;

/** The namespace of state that belongs to the key alone. */
export const noNamespace = '';

export interface StateRows<R extends StateRow> {
  get(namespace: string): R | null;
  put(namespace: string, row: R): void;
  remove(namespace: string): void;
}

export interface KeyedStateBackend {
  currentKey(): unknown;
  setCurrentKey(key: unknown): void;
  /** @throws MILL_TOPOLOGY_DUPLICATE_NAME when the name is in use by another descriptor */
  rows<R extends StateRow>(descriptor: AnyStateDescriptor): StateRows<R>;
}
