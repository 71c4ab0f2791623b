/**
 * The tables of a store whose rows lie by (time segment, key). Every segment that exists, in memory or in the engine, is here: one that is not has no rows,
 * and its engine range need not be asked.
 */
import type { RowTable } from './row-table.js';
import { SortedNumbers } from './sorted-numbers.js';

const evictionTries = 16;

export class SegmentTables<K, R> {
  private readonly tables = new Map<number, RowTable<K, R>>();
  private readonly starts = new SortedNumbers();
  private recent: RowTable<K, R> | null = null;
  private evictAt = 0;

  /** @param leaves is told of each table that is out of retention */
  constructor(
    private readonly make: (start: number, mayMiss: boolean) => RowTable<K, R>,
    private readonly leaves: (table: RowTable<K, R>) => void,
  ) {}

  /** Bytes in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const table of this.tables.values()) bytes += table.bytes;
    return bytes;
  }

  /** Rows in memory. */
  get rowCount(): number {
    let count = 0;
    for (const table of this.tables.values()) count += table.rows.size;
    return count;
  }

  get(start: number): RowTable<K, R> | undefined {
    return this.recent !== null && this.recent.windowStart === start ? this.recent : this.tables.get(start);
  }

  /** The table of the segment, made when there is none. */
  open(start: number, mayMiss = false): RowTable<K, R> {
    if (this.recent !== null && this.recent.windowStart === start) return this.recent;
    let table = this.tables.get(start);
    if (table === undefined) {
      table = this.make(start, mayMiss);
      table.registered = true;
      this.tables.set(start, table);
      this.starts.add(start);
    }
    this.recent = table;
    return table;
  }

  /** Ascending starts of all segments; changes with the store. */
  get all(): readonly number[] {
    return this.starts.values;
  }

  /** Index in `all` of the first segment that starts at or after `start`. */
  indexFrom(start: number): number {
    return this.starts.firstAtOrAbove(start);
  }

  /** Drops segments that start below `bound`, up to the first one with rows on their way to the engine; returns the bound reached. */
  dropBelow(bound: number): number {
    const { values } = this.starts;
    let reached = bound;
    let dropped = 0;
    for (; dropped < values.length; dropped++) {
      const start = values[dropped] as number;
      if (start >= bound) break;
      const table = this.tables.get(start) as RowTable<K, R>;
      if (table.pinned > 0) {
        reached = start;
        break;
      }
      this.leaves(table);
      table.drop();
      this.tables.delete(start);
      if (this.recent === table) this.recent = null;
    }
    values.splice(0, dropped);
    return reached;
  }

  /** Drops segments that start below `bound` with all their rows, also those on their way to the engine; returns whether there were any. */
  dropExpired(bound: number): boolean {
    const { values } = this.starts;
    let dropped = 0;
    for (; dropped < values.length; dropped++) {
      const start = values[dropped] as number;
      if (start >= bound) break;
      const table = this.tables.get(start) as RowTable<K, R>;
      this.leaves(table);
      table.drop();
      table.expired = true;
      this.tables.delete(start);
      if (this.recent === table) this.recent = null;
    }
    if (dropped > 0) values.splice(0, dropped);
    return dropped > 0;
  }

  evict(steps: number): number {
    const { values } = this.starts;
    for (let i = 0; i < evictionTries && i < values.length; i++) {
      this.evictAt = (this.evictAt + 1) % values.length;
      const table = this.tables.get(values[this.evictAt] as number) as RowTable<K, R>;
      if (table.rows.size > table.pinned) return table.evict(steps);
    }
    return 0;
  }

  clear(): void {
    for (const table of this.tables.values()) table.drop();
    this.tables.clear();
    this.starts.clear();
    this.recent = null;
  }
}
