/**
 * Scans for readers from outside: rows in order, a page at a time, that never hold up the task.
 *
 * Over LevelDB: the engine's own snapshot at the start, overlaid by the rows that the engine did not have then. Over memory: pages of the live order. As of a
 * committed epoch both are exact, since a row's value then can always be found (`BeforeImages`) and, in memory, no row leaves meanwhile. Uncommitted scans over
 * either show a row as it is when its page is read.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineScan } from '../engine/engine.js';
import type { Row } from '../row.js';
import type { RowTable } from '../row-table.js';
import { byteOrder } from '../row-table.js';
import { mustBeHeld } from './before-images.js';
import type { Snapshot } from './before-images.js';
import type { AsOf, ReadRow, RowReader } from './row-reader.js';

export interface ScanPlan<K, V> {
  /** Memory: the tables, in the order of the scan. LevelDB: where to look for rows that the engine does not have yet. */
  readonly tables: readonly RowTable<K, V>[];
  /** LevelDB: `from <= engine key < to`. */
  readonly engine: { readonly from: Buffer; readonly to: Buffer };
  /** Bounds of the key bytes as latin1 strings, `from <= key < to`; null: open. */
  readonly keys: { readonly from: string | null; readonly to: string | null };
  readonly reverse: boolean;
  /** Bytes at the beginning of the engine's keys that are the same for all rows. */
  readonly samePrefix: number;
}

export interface PlacedRow<K, V> extends ReadRow<V> {
  /** Where the row stands: what follows `samePrefix` in its engine key, as a latin1 string. */
  readonly order: string;
  readonly key: K;
  /** Start of its window or segment; 0 in key-value stores. */
  readonly start: number;
}

export interface RowScan<K, V> {
  /** The next rows; none at the end. Errors: MILL_STORE_CLOSED, MILL_STORE_SNAPSHOT_LOST, MILL_STORE_IO. */
  next(): Promise<readonly PlacedRow<K, V>[]>;
  close(): Promise<void>;
}

const pageSize = 256;

/** Opened at once: what it shows is as of this call. */
export function openRowScan<K, V>(
  reader: RowReader<K, V>,
  asOf: AsOf,
  plan: ScanPlan<K, V>,
  startOf: (engineKey: Buffer) => number,
): RowScan<K, V> {
  const { engine } = reader.state;
  reader.state.assertOpen();
  if (engine === null) return new MemoryRowScan(reader, asOf, plan);
  const noted = noteRows(reader, plan);
  return new EngineRowScan(reader, asOf, plan, noted, engine.scan({ ...plan.engine, reverse: plan.reverse }), startOf);
}

class MemoryRowScan<K, V> implements RowScan<K, V> {
  private readonly snapshot: Snapshot | null;
  private table = 0;
  private from: string | null;
  private to: string | null;
  private started = false;

  constructor(
    private readonly reader: RowReader<K, V>,
    private readonly asOf: AsOf,
    private readonly plan: ScanPlan<K, V>,
  ) {
    this.snapshot = reader.openSnapshot(asOf);
    this.from = plan.keys.from;
    this.to = plan.keys.to;
  }

  async next(): Promise<readonly PlacedRow<K, V>[]> {
    const { tables } = this.plan;
    const { state } = this.reader;
    const page: PlacedRow<K, V>[] = [];
    while (page.length === 0 && this.table < tables.length) {
      // Nothing here waits by itself: without a pause a scan would keep everything else from running.
      if (this.started) await nextTurn();
      this.started = true;
      state.assertOpen();
      if (this.snapshot !== null) mustBeHeld(this.snapshot, state.name);
      this.readPage(tables[this.table] as RowTable<K, V>, page);
    }
    return page;
  }

  private readPage(table: RowTable<K, V>, page: PlacedRow<K, V>[]): void {
    const { reader, asOf, plan } = this;
    const rows = table.ordered(this.from, this.to, plan.reverse, pageSize);
    for (const row of rows) {
      const found = reader.read(row, asOf);
      if (found !== null) page.push(placed(reader, plan, row, found));
    }
    const last = rows[pageSize - 1];
    if (last === undefined) {
      this.table++;
      this.from = plan.keys.from;
      this.to = plan.keys.to;
    } else if (plan.reverse) this.to = reader.state.orderOf(last);
    else this.from = `${reader.state.orderOf(last)}\0`;
  }

  async close(): Promise<void> {
    this.table = this.plan.tables.length;
    this.reader.closeSnapshot(this.snapshot);
  }
}

interface NotedRow<K, V> {
  readonly order: string;
  readonly row: Row<K, V>;
}

/** Rows of the range that the engine does not have, or has with an older value. */
function noteRows<K, V>({ state }: RowReader<K, V>, plan: ScanPlan<K, V>): NotedRow<K, V>[] {
  const tables = new Set(plan.tables);
  const { from, to } = plan.keys;
  const noted: NotedRow<K, V>[] = [];
  for (const row of state.pinnedRows()) {
    if (!tables.has(row.table)) continue;
    const key = state.orderOf(row);
    if ((from !== null && key < from) || (to !== null && key >= to)) continue;
    noted.push({ order: prefixOf(row, plan) + key, row });
  }
  return noted.sort((a, b) => (plan.reverse ? byteOrder(b.order, a.order) : byteOrder(a.order, b.order)));
}

class EngineRowScan<K, V> implements RowScan<K, V> {
  private readonly snapshot: Snapshot | null;
  private at = 0;
  private ended = false;
  private closed: Promise<void> | null = null;

  constructor(
    private readonly reader: RowReader<K, V>,
    private readonly asOf: AsOf,
    private readonly plan: ScanPlan<K, V>,
    private readonly noted: readonly NotedRow<K, V>[],
    private readonly scan: EngineScan,
    private readonly startOf: (engineKey: Buffer) => number,
  ) {
    this.snapshot = reader.openSnapshot(asOf);
  }

  async next(): Promise<readonly PlacedRow<K, V>[]> {
    const page: PlacedRow<K, V>[] = [];
    while (page.length === 0 && !this.ended) {
      const found = await this.scan.next(pageSize);
      this.reader.state.assertOpen();
      if (this.snapshot !== null) mustBeHeld(this.snapshot, this.reader.state.name);
      if (found.length === 0) this.takeNoted(page, null);
      for (const [key, value] of found) this.take(page, key, value);
    }
    return page;
  }

  private take(page: PlacedRow<K, V>[], engineKey: Buffer, value: Buffer): void {
    const { plan, reader } = this;
    const { keys, samePrefix } = plan;
    const order = engineKey.toString('latin1', samePrefix);
    if (this.takeNoted(page, order)) return;
    const prefix = this.prefixLength;
    const key = engineKey.toString('latin1', prefix);
    if ((keys.from !== null && key < keys.from) || (keys.to !== null && key >= keys.to)) return;
    const decoded = reader.state.decodeKey(engineKey, prefix);
    page.push({
      order,
      key: decoded,
      start: this.startOf(engineKey),
      ...reader.state.rowFromEngine(decoded, value),
    });
  }

  /** Noted rows before `order`, a page of them at the end; true when one stands at `order` itself. */
  private takeNoted(page: PlacedRow<K, V>[], order: string | null): boolean {
    const { noted, plan, reader } = this;
    for (; this.at < noted.length; this.at++) {
      const next = noted[this.at] as NotedRow<K, V>;
      if (order === null ? page.length === pageSize : plan.reverse ? next.order < order : next.order > order) return false;
      const found = reader.read(next.row, this.asOf);
      if (found !== null) page.push(placed(reader, plan, next.row, found));
      if (next.order !== order) continue;
      this.at++;
      return true;
    }
    if (order === null) this.ended = true;
    return false;
  }

  private get prefixLength(): number {
    return this.plan.tables[0]?.prefix.length ?? this.plan.samePrefix;
  }

  close(): Promise<void> {
    this.ended = true;
    this.reader.closeSnapshot(this.snapshot);
    this.closed ??= this.scan.close();
    return this.closed;
  }
}

function placed<K, V>(reader: RowReader<K, V>, plan: ScanPlan<K, V>, row: Row<K, V>, found: ReadRow<V>): PlacedRow<K, V> {
  return { order: prefixOf(row, plan) + reader.state.orderOf(row), key: row.key, start: row.windowStart, ...found };
}

function prefixOf<K, V>(row: Row<K, V>, plan: ScanPlan<K, V>): string {
  return row.table.prefix.toString('latin1', plan.samePrefix);
}
