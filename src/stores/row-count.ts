import type { RowTable } from './row-table.js';

/** How many rows a store has, in memory or not: the sum of what its tables have. Estimated after a restore, and for tables that were found in the engine. */
export class RowCount<K, V> {
  total = 0;
  /** Records of restores that may have been counted before. */
  uncounted = 0;

  get estimate(): number {
    return Math.max(0, this.total);
  }

  add(table: RowTable<K, V>, change: number): void {
    table.entries += change;
    this.total += change;
  }

  /** By a record of a changelog, whose key may have been there before. */
  addRestored(table: RowTable<K, V>, change: number): void {
    this.uncounted++;
    if (change > 0 || (table.entries > 0 && this.total > 0)) this.add(table, change);
  }

  /** The table and all that it has, in memory or in the engine, is given up. */
  forget(table: RowTable<K, V>): void {
    this.total = Math.max(0, this.total - table.entries);
    table.entries = 0;
  }

  /** Of tables that were found in the engine only the sum is known. */
  spread(tables: readonly RowTable<K, V>[]): void {
    if (tables.length === 0) this.total = 0;
    const each = this.total / tables.length;
    for (const table of tables) table.entries = each;
  }

  /** The count was wrong by so many rows, and so many records are no longer in doubt. */
  correct(more: number, doubted: number): void {
    this.total += more;
    this.uncounted = Math.max(0, this.uncounted - doubted);
  }

  reset(): void {
    this.total = this.uncounted = 0;
  }
}
