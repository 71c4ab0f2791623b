/** Readers of stores whose rows are lists: one row is what a key has in one segment of time. */
import { firstAtOrAbove } from '../entry.js';
import type { Entry } from '../entry.js';
import type { EntryListState } from '../entry-list-state.js';
import type { SlidingWindowState } from '../sliding-window-state.js';
import { boundsFrom, engineBounds, orderBounds } from './key-bounds.js';
import { openRowScan } from './row-scan.js';
import type { RowScan } from './row-scan.js';
import { RowReader } from './row-reader.js';
import type { AsOf } from './row-reader.js';
import type { KeyBounds, TimeBounds } from './store-reader.js';

abstract class EntryReader<K, V> {
  readonly rows: RowReader<K, Entry<V>[]>;

  constructor(private readonly list: EntryListState<K, V>) {
    this.rows = new RowReader(list);
  }

  /** Entries of one key by time. */
  entriesOf(key: K, times: TimeBounds, asOf: AsOf): Entry<V>[] {
    this.list.assertOpen();
    this.list.hashOf(key);
    const from = Math.max(times.from, this.firstLive(asOf));
    const found: Entry<V>[] = [];
    for (const start of this.segments(from, times.to)) {
      const table = this.list.tables.get(start);
      const row = table === undefined ? null : this.rows.find(table, key, asOf);
      if (row !== null) found.push(...between(row.value, from, times.to));
    }
    return found;
  }

  /** One scan a segment, in order of time; each by key bytes. Rows hold entries outside of the times, too: see `visible`. */
  scan(keys: KeyBounds<K>, times: TimeBounds, reverse: boolean, startAt: string | null, asOf: AsOf): RowScan<K, Entry<V>[]>[] {
    this.list.assertOpen();
    const whole = orderBounds(keys, (key) => this.list.keyOrder(key));
    const bounds = startAt === null ? whole : boundsFrom(whole, startAt, reverse);
    const segments = this.segments(Math.max(times.from, this.firstLive(asOf)), times.to);
    return segments.flatMap((start) => {
      const table = this.list.tables.get(start);
      if (table === undefined) return [];
      const samePrefix = table.prefix.length;
      const plan = { tables: [table], engine: engineBounds(table.prefix, bounds), keys: bounds, reverse, samePrefix };
      return [openRowScan(this.rows, asOf, plan, () => start)];
    });
  }

  /** The first time that is visible. */
  firstLive(asOf: AsOf): number {
    return this.rows.marks(asOf).observed - this.list.retention + 1;
  }

  private segments(from: number, to: number): number[] {
    const { tables } = this.list;
    const first = from === -Infinity ? 0 : tables.indexFrom(this.list.segmentOf(from));
    return tables.all.slice(first).filter((start) => start <= to);
  }
}

/** Those of an entry list with `from <= time <= to`. */
export function between<V>(list: readonly Entry<V>[], from: number, to: number): Entry<V>[] {
  const found: Entry<V>[] = [];
  for (let at = firstAtOrAbove(list, from, -Infinity); at < list.length; at++) {
    const entry = list[at] as Entry<V>;
    if (entry.time > to) break;
    if (entry.value !== null) found.push(entry);
  }
  return found;
}

/** An entry's `time` is the session's end, its `second` the start. */
export class SessionReader<K, V> extends EntryReader<K, V> {
  readonly kind = 'session';
}

/** An entry's `time` is the window's start. */
export class SlidingWindowReader<K, V> extends EntryReader<K, V> {
  readonly kind = 'slidingWindow';
  readonly windowSize: number;

  constructor(state: SlidingWindowState<K, V>) {
    super(state);
    this.windowSize = state.windowSize;
  }
}
