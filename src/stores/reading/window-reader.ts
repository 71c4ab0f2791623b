import type { EngineSnapshot } from '../engine/engine.js';
import type { Row } from '../row.js';
import { startInEngineKey, windowPrefix } from '../window-key.js';
import type { WindowState } from '../window-state.js';
import { mustBeHeld } from './before-images.js';
import type { Snapshot } from './before-images.js';
import { orderBounds } from './key-bounds.js';
import { openRowScan } from './row-scan.js';
import type { PlacedRow, RowScan } from './row-scan.js';
import { RowReader } from './row-reader.js';
import type { AsOf, ReadRow } from './row-reader.js';
import type { KeyBounds, TimeBounds } from './store-reader.js';
import { setImmediate as nextTurn } from 'node:timers/promises';

const idBytes = 2;
const pageSize = 256;

/** Reads `window` and `timestampedWindow` stores. Times are window starts. */
export class WindowReader<K, V> {
  readonly kind = 'window';
  readonly rows: RowReader<K, V>;
  readonly windowSize: number;

  constructor(private readonly state: WindowState<K, V>) {
    this.rows = new RowReader(state);
    this.windowSize = state.windowSize;
  }

  get(key: K, start: number, asOf: AsOf): ReadRow<V> | null {
    const table = start < this.firstLive(asOf) ? undefined : this.state.tableAt(start);
    if (table !== undefined) return this.rows.find(table, key, asOf);
    // A key of the wrong type is refused wherever it would be.
    this.state.assertOpen();
    this.state.hashOf(key);
    return null;
  }

  /** The windows of one key, by start. */
  windowsOf(key: K, times: TimeBounds, reverse: boolean, asOf: AsOf): RowScan<K, V>[] {
    const starts = this.starts(times, reverse, asOf);
    this.state.hashOf(key);
    return starts.length === 0 ? [] : [new WindowsOfKey(this.rows, this.state, key, starts, asOf)];
  }

  /** By window start, then key bytes. `startAt`: where it begins, as a latin1 string of start and key. */
  scan(keys: KeyBounds<K>, times: TimeBounds, reverse: boolean, startAt: string | null, asOf: AsOf): RowScan<K, V>[] {
    const starts = this.starts(times, reverse, asOf);
    const tables = starts.flatMap((start) => this.state.tableAt(start) ?? []);
    const [first, last] = reverse ? [starts[starts.length - 1], starts[0]] : [starts[0], starts[starts.length - 1]];
    if (first === undefined || last === undefined) return [];
    let from = this.prefix(first);
    let to = this.prefix(last + 1);
    if (startAt !== null) {
      const at = Buffer.concat([this.state.idPrefix, Buffer.from(startAt, 'latin1')]);
      if (reverse) to = Buffer.concat([at, Buffer.alloc(1)]);
      else from = at;
    }
    const bounds = orderBounds(keys, (key) => this.state.keyOrder(key));
    const plan = { tables, engine: { from, to }, keys: bounds, reverse, samePrefix: idBytes };
    return [openRowScan(this.rows, asOf, plan, (engineKey) => startInEngineKey(engineKey, idBytes))];
  }

  private prefix(start: number): Buffer {
    return windowPrefix(this.state.idPrefix, start);
  }

  private starts({ from, to }: TimeBounds, reverse: boolean, asOf: AsOf): number[] {
    this.state.assertOpen();
    const starts = this.state.startsBetween(Math.max(from, this.firstLive(asOf)), to);
    return reverse ? starts.reverse() : starts;
  }

  private firstLive(asOf: AsOf): number {
    return this.rows.marks(asOf).observed - this.state.retention + 1;
  }
}

/** What stands in memory is noted at the start; the rest is read from the engine as of then. */
class WindowsOfKey<K, V> implements RowScan<K, V> {
  private readonly noted: readonly (readonly [number, Row<K, V> | null])[];
  private readonly snapshot: Snapshot | null;
  private readonly engine: EngineSnapshot | null;
  private at = 0;
  private isClosed = false;

  constructor(
    private readonly reader: RowReader<K, V>,
    private readonly state: WindowState<K, V>,
    private readonly key: K,
    starts: readonly number[],
    private readonly asOf: AsOf,
  ) {
    const mapKey = state.identity ? key : state.hashOf(key);
    this.noted = starts.flatMap((start): (readonly [number, Row<K, V> | null])[] => {
      const table = state.tableAt(start);
      const row = table?.rows.get(mapKey);
      if (row !== undefined) return [[start, row]];
      if (table?.mayMiss !== true) return [];
      return [[start, null]];
    });
    this.snapshot = reader.openSnapshot(asOf);
    this.engine = this.noted.some(([, row]) => row === null) ? (state.engine?.snapshot() ?? null) : null;
  }

  async next(): Promise<readonly PlacedRow<K, V>[]> {
    const page: PlacedRow<K, V>[] = [];
    while (page.length === 0 && this.at < this.noted.length && !this.isClosed) {
      if (this.at > 0) await nextTurn();
      this.state.assertOpen();
      if (this.snapshot !== null) mustBeHeld(this.snapshot, this.state.name);
      const end = Math.min(this.at + pageSize, this.noted.length);
      for (; this.at < end; this.at++) {
        const [start, row] = this.noted[this.at] as readonly [number, Row<K, V> | null];
        const prefix = windowPrefix(this.state.idPrefix, start);
        const found = row === null ? this.inEngine(prefix) : this.reader.read(row, this.asOf);
        if (found !== null)
          page.push({ ...found, key: this.key, start, order: prefix.toString('latin1', idBytes) + this.state.keyOrder(this.key) });
      }
    }
    return page;
  }

  private inEngine(prefix: Buffer): ReadRow<V> | null {
    const engineKey = Buffer.concat([prefix, Buffer.from(this.state.keyOrder(this.key), 'latin1')]);
    const bytes = this.engine?.get(engineKey);
    return bytes === undefined ? null : this.state.rowFromEngine(this.key, bytes);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.reader.closeSnapshot(this.snapshot);
    await this.engine?.close();
  }
}
