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

/** Rows of a table. Errors: MILL_STORE_CLOSED when the task is closed meanwhile. */
export function scanTable<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>, undefined> {
  return state.engine === null ? scanMemory(state, table, range) : scanOverEngine(state, table, range);
}

/** The bound just after `bytes` as a latin1 string. */
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

async function* scanMemory<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>, undefined> {
  let { from, to } = range;
  for (;;) {
    state.assertOpen();
    const page = table.ordered(from, to, range.reverse, pageSize);
    for (const row of page) {
      state.assertOpen();
      if (row.value !== null) yield { key: row.key, value: row.value, timestamp: row.timestamp };
    }
    const last = page[pageSize - 1];
    if (last === undefined) return;
    if (range.reverse) to = state.orderOf(last);
    else from = justAfter(state.orderOf(last));
  }
}

async function* scanOverEngine<K, V>(
  state: KeyedState<K, V>,
  table: RowTable<K, V>,
  range: ScanRange,
): AsyncGenerator<ScannedRow<K, V>, undefined> {
  state.assertOpen();
  const complete = !table.mayMiss;
  const noted = note(state, table, range, !complete);
  if (complete || state.engine === null) {
    for (const row of noted) {
      state.assertOpen();
      if (row.value !== null) yield row as ScannedRow<K, V>;
    }
    return;
  }
  const scan = state.engine.scan({ ...engineBounds(table.prefix, range), reverse: range.reverse });
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
): AsyncGenerator<ScannedRow<K, V>, undefined> {
  const skip = table.prefix.length;
  let at = 0;
  for (;;) {
    const page = await scan.next(pageSize);
    for (const [key, value] of page) {
      const order = key.toString('latin1', skip);
      let row = noted[at];
      while (row !== undefined && (reverse ? row.order > order : row.order < order)) {
        state.assertOpen();
        if (row.value !== null) yield row as ScannedRow<K, V>;
        row = noted[++at];
      }
      if (row !== undefined && row.order === order) {
        at++;
        if (row.value !== null) yield row as ScannedRow<K, V>;
        continue;
      }
      state.assertOpen();
      yield state.scannedRow(table, key, value) as ScannedRow<K, V>;
    }
    if (page.length === 0) break;
  }
  for (; at < noted.length; at++) {
    state.assertOpen();
    const row = noted[at] as NotedRow<K, V>;
    if (row.value !== null) yield row as ScannedRow<K, V>;
  }
}

function engineBounds(prefix: Buffer, range: ScanRange): { from: Buffer; to: Buffer } {
  const base = prefix.toString('latin1');
  const to = range.to === null ? afterPrefix(base) : base + range.to;
  return { from: Buffer.from(base + (range.from ?? ''), 'latin1'), to: Buffer.from(to ?? '\xff\xff\xff', 'latin1') };
}
