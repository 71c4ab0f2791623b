import type { WindowEntry } from './store.js';
import type { RowTable } from './row-table.js';

/** Bytes of a row, its map entry and their fields; keys and values come on top. */
export const rowOverhead = 200;

/**
 * One row of a store in memory. The hot path reads and writes its fields directly.
 *
 * A row is pinned while its newest value is not yet in the engine: once by the active epoch if that wrote it, and once by every frozen epoch
 * that still waits for its commit or for the engine. Pinned rows are never evicted, so the engine is asked only for values it surely has.
 */
export class Row<K, V> implements WindowEntry<K, V> {
  value: V | null = null;
  timestamp = -1;
  /** Timestamp of the record that deleted the row. */
  deletedAt = -1;
  /** The store's generation that wrote the row last: equal to the store's own when the row is dirty in the active epoch. */
  stamp = 0;
  /** Nothing was there before the epoch that wrote the row last: when it has gone by the barrier, nobody needs to hear of it (`briefRowsUnlogged`). */
  isBrief = false;
  pins = 0;
  /** Second chance of the CLOCK. */
  referenced = true;
  /** True while the row stands in its table. */
  linked = false;
  /** Bytes in memory, estimated. */
  size: number;
  /** The engine write that has taken the row's newest due value. */
  flushMark = 0;
  /** The drain generation in whose list of changes the row stands, and that for which `captured` is fresh. */
  changeStamp = 0;
  captureStamp = 0;
  /** The value's bytes before the user's code could change the object in place. Only for objects in stores that track changes. */
  captured: Buffer | null = null;

  constructor(
    readonly key: K,
    readonly hash: unknown,
    readonly table: RowTable<K, V>,
    size: number,
  ) {
    this.size = size;
  }

  get windowStart(): number {
    return this.table.windowStart;
  }
}
