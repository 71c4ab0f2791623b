/**
 * Range scans: the rows of one table in byte order of their keys, memory over engine.
 *
 * A scan over LevelDB is a snapshot: the engine's own at its start, overlaid by the pinned rows of the range, whose values are noted at the same moment
 * (they win, and deletions hide). Writes meanwhile don't show. A scan of a memory store reads pages from the ordered index and is weakly consistent: rows
 * written ahead of it show, none is given twice or left out for being written.
 */
import type { EngineScan } from './engine/engine.js';
import type { KeyedState } from './keyed-state.js';
import type { RowTable } from './row-table.js';

export interface ScanRange {
  /** Bounds as latin1 strings of key bytes: `from <= key < to`; null is open. */
  readonly from: string | null;
  readonly to: string | null;
  readonly reverse: boolean;
}

export interface ScannedRow<K, V> {
  readonly key: K;
  readonly value: V;
  readonly timestamp: number;
}

interface NotedRow<K, V> {
  readonly order: string;
  readonly key: K;
  readonly value: V | null;
  readonly timestamp: number;
}

const pageSize = 256;

/**
 * Rows of a table, a page at a time: an await for each page and not for each row. Errors: MILL_STORE_CLOSED when the task is closed meanwhile.
 */
export function scanPages<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>[], undefined> {
  return state.engine === null ? memoryPages(state, table, range) : enginePages(state, table, range);
}

/** The bound just after `order`. */
export function justAfter(order: string): string {
  return `${order}\0`;
}

/** The first string after all that start with `order`; null when there is none. */
export function afterPrefix(order: string): string | null {
  let size = order.length;
  while (size > 0 && order.charCodeAt(size - 1) === 0xff) size--;
  if (size === 0) return null;
  return order.slice(0, size - 1) + String.fromCharCode(order.charCodeAt(size - 1) + 1);
}

async function* memoryPages<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>[], undefined> {
  let { from, to } = range;
  for (;;) {
    state.assertOpen();
    const rows = table.ordered(from, to, range.reverse, pageSize);
    yield present(rows);
    const last = rows[pageSize - 1];
    if (last === undefined) return;
    if (range.reverse) to = state.orderOf(last);
    else from = justAfter(state.orderOf(last));
  }
}

async function* enginePages<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>[], undefined> {
  state.assertOpen();
  const { engine } = state;
  const complete = !table.mayMiss;
  const noted = note(state, table, range, !complete);
  if (complete || engine === null) {
    yield present(noted);
    return;
  }
  const scan = engine.scan({ ...engineBounds(table.prefix, range), reverse: range.reverse });
  try {
    yield* merge(state, table, range.reverse, scan, noted);
  } finally {
    await scan.close();
  }
}

/** Rows in memory as of now; those that are equal in the engine are left out when that is read too. */
function note<K, V>(state: KeyedState<K, V>, table: RowTable<K, V>, range: ScanRange, pinnedOnly: boolean): NotedRow<K, V>[] {
  const noted: NotedRow<K, V>[] = [];
  for (const row of table.ordered(range.from, range.to, range.reverse, Infinity)) {
    if (pinnedOnly && row.pins === 0) continue;
    noted.push({ order: state.orderOf(row), key: row.key, value: row.value, timestamp: row.timestamp });
  }
  return noted;
}

async function* merge<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  reverse: boolean,
  scan: EngineScan,
  noted: readonly NotedRow<K, V>[],
): AsyncGenerator<ScannedRow<K, V>[], undefined> {
  let at = 0;
  for (;;) {
    const found = await scan.next(pageSize);
    state.assertOpen();
    if (found.length === 0) break;
    const page: ScannedRow<K, V>[] = [];
    for (const [key, value] of found) {
      const order = key.toString('latin1', table.prefix.length);
      let row = noted[at];
      while (row !== undefined && (reverse ? row.order > order : row.order < order)) {
        push(page, row);
        row = noted[++at];
      }
      if (row?.order === order) {
        push(page, row);
        at++;
      } else {
        page.push(state.scannedRow(table, key, value));
      }
    }
    yield page;
  }
  yield present(noted.slice(at));
}

function push<K, V>(page: ScannedRow<K, V>[], { key, value, timestamp }: NotedRow<K, V>): void {
  if (value !== null) page.push({ key, value, timestamp });
}

/** Leaves deleted rows out; copies, since rows in memory change. */
function present<K, V>(rows: readonly { readonly key: K; readonly value: V | null; readonly timestamp: number }[]): ScannedRow<K, V>[] {
  const found: ScannedRow<K, V>[] = [];
  for (const { key, value, timestamp } of rows) if (value !== null) found.push({ key, value, timestamp });
  return found;
}

function engineBounds(prefix: Buffer, range: ScanRange): { from: Buffer; to: Buffer } {
  const base = prefix.toString('latin1');
  // Ids of stores stay below 0xffff, so there always is something after a prefix.
  const to = range.to === null ? (afterPrefix(base) ?? base) : base + range.to;
  return { from: Buffer.from(base + (range.from ?? ''), 'latin1'), to: Buffer.from(to, 'latin1') };
}
