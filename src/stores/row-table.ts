/**
 * The rows of a key-value store, or of one window of a window store, by key; in byte order on demand.
 *
 * `mayMiss` is false while every row that exists is here: then a miss is an absent row and the engine is not asked. It becomes true with the first eviction
 * and for what is found in the engine at the start. Absent rows stand here only while they are pinned (deletions on their way to the engine).
 */
import BTreeModule from 'sorted-btree';
import type { CacheBudget } from './cache-budget.js';
import type { Row } from './row.js';

/** sorted-btree is CommonJS: its class is the module's `default`. */
const BTree = BTreeModule.default;
type Index<K, V> = InstanceType<typeof BTree<string, Row<K, V>>>;

export interface TableLayout {
  /** What stands before the key in the engine. */
  readonly prefix: Buffer;
  /** What stands after the key in the changelog; null: nothing. */
  readonly suffix: Buffer | null;
  readonly windowStart: number;
}

export class RowTable<K, V> {
  readonly rows = new Map<unknown, Row<K, V>>();
  readonly prefix: Buffer;
  readonly suffix: Buffer | null;
  readonly windowStart: number;
  mayMiss: boolean;
  /** Window stores: false while the window has no row yet and the store does not know the table. */
  registered = false;
  /** It was dropped because all of it is out of retention as of a committed epoch: nothing of it is written to the engine any more. */
  expired = false;
  /** Number of pinned rows. */
  pinned = 0;
  /** Bytes of all rows here. */
  bytes = 0;
  /** What the store counts as its keys in this table, in memory or not; estimated where it was not counted from the beginning. */
  entries = 0;
  private index: Index<K, V> | null = null;
  private hand: IterableIterator<Row<K, V>> | null = null;

  /** `budget` null: rows are never evicted. `orderOf` gives a row's key bytes as a latin1 string. */
  constructor(
    layout: TableLayout,
    mayMiss: boolean,
    private readonly budget: CacheBudget | null,
    private readonly orderOf: (row: Row<K, V>) => string,
  ) {
    this.prefix = layout.prefix;
    this.suffix = layout.suffix;
    this.windowStart = layout.windowStart;
    this.mayMiss = mayMiss;
  }

  link(row: Row<K, V>): void {
    this.budget?.makeRoom(row.size);
    row.linked = true;
    this.rows.set(row.hash, row);
    this.index?.set(this.orderOf(row), row);
    this.account(row.size);
  }

  unlink(row: Row<K, V>): void {
    row.linked = false;
    this.rows.delete(row.hash);
    this.index?.delete(this.orderOf(row));
    this.account(-row.size);
  }

  pin(row: Row<K, V>): void {
    if (row.pins++ > 0) return;
    this.pinned++;
    if (this.budget !== null) this.budget.pinned += row.size;
  }

  unpin(row: Row<K, V>): void {
    if (--row.pins > 0) return;
    this.pinned--;
    if (this.budget !== null) this.budget.pinned -= row.size;
    if (row.value === null && row.linked) this.unlink(row);
  }

  /** For pinned rows: the size became known. */
  resize(row: Row<K, V>, size: number): void {
    const change = size - row.size;
    row.size = size;
    this.account(change);
    if (this.budget !== null) this.budget.pinned += change;
  }

  evict(steps: number): number {
    let freed = 0;
    let restarts = 0;
    for (let i = 0; i < steps; i++) {
      this.hand ??= this.rows.values();
      const next = this.hand.next();
      if (next.done === true) {
        this.hand = null;
        if (++restarts > 1) break;
        continue;
      }
      const row = next.value;
      if (row.pins > 0) continue;
      if (row.referenced) {
        row.referenced = false;
        continue;
      }
      this.unlink(row);
      this.mayMiss = true;
      freed += row.size;
    }
    return freed;
  }

  /** Forgets the rows that the engine has. */
  forgetClean(): void {
    if (this.rows.size === this.pinned) return;
    for (const row of this.rows.values()) if (row.pins === 0) this.unlink(row);
    this.mayMiss = true;
  }

  /** Forgets all rows, pinned ones too. */
  drop(): void {
    this.budgetRelease();
    this.rows.clear();
    this.index = null;
    this.hand = null;
    this.bytes = 0;
    this.pinned = 0;
  }

  /** Rows with `from <= key bytes < to` in byte order, at most `limit`. Null bounds are open. */
  ordered(from: string | null, to: string | null, reverse: boolean, limit: number): Row<K, V>[] {
    const index = this.ensureIndex();
    const found: Row<K, V>[] = [];
    if (reverse) {
      for (const [key, row] of to === null ? index.entriesReversed() : index.entriesReversed(to, undefined, true)) {
        if (found.length === limit || (from !== null && key < from)) break;
        found.push(row);
      }
    } else {
      for (const [key, row] of from === null ? index.entries() : index.entries(from)) {
        if (found.length === limit || (to !== null && key >= to)) break;
        found.push(row);
      }
    }
    return found;
  }

  private ensureIndex(): Index<K, V> {
    if (this.index === null) {
      const pairs: [string, Row<K, V>][] = [];
      for (const row of this.rows.values()) pairs.push([this.orderOf(row), row]);
      pairs.sort((a, b) => byteOrder(a[0], b[0]));
      this.index = new BTree<string, Row<K, V>>(pairs, byteOrder);
    }
    return this.index;
  }

  private account(change: number): void {
    this.bytes += change;
    if (this.budget !== null) this.budget.used += change;
  }

  private budgetRelease(): void {
    if (this.budget === null) return;
    this.budget.used -= this.bytes;
    if (this.pinned === 0) return;
    for (const row of this.rows.values()) if (row.pins > 0) this.budget.pinned -= row.size;
  }
}

/** Order of latin1 strings is the order of their bytes. */
export function byteOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
