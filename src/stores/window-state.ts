/**
 * The window store with timestamps: a table of rows for each window start.
 *
 * Every start that exists, in memory or in the engine, is in `tables`: a start that is not there has no rows, and its engine range need not be read.
 * Rows with `windowStart < observed − retention + 1` are expired: they read as absent, and writes to them are dropped and counted (Kafka Streams' rule).
 * They leave memory and engine later, after an engine write, and with `closeTracking` not before `drainClosed` gave them out.
 */
import { checkFlag } from './range-options.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { EngineBatch } from './engine/engine.js';
import { KeyedState } from './keyed-state.js';
import { Row } from './row.js';
import type { RowTable } from './row-table.js';
import { SortedNumbers } from './sorted-numbers.js';
import type { StoreChange, TimestampedWindowStore, ValueAndTimestamp, WindowEntry } from './store.js';
import { idPrefix } from './store-environment.js';
import type { StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { scanPages } from './table-scan.js';
import { changelogSuffix, changelogSuffixBytes, startInChangelogKey, startInEngineKey, windowPrefix } from './window-key.js';

type Visit<K, V> = (entry: WindowEntry<K, V>) => void | Promise<void>;

const everyKey = { from: null, to: null, reverse: false } as const;
const evictionTries = 16;
/** Start of a table that no row is ever in. */
const nowhere = Number.MIN_SAFE_INTEGER;

/** How much time must have expired before a range delete is worth its walk, ms; as long as Kafka Streams' segments. */
function clearingInterval(retention: number): number {
  return Math.max(Math.floor(retention / 2), 60_000);
}

export class WindowState<K, V> extends KeyedState<K, V> implements TimestampedWindowStore<K, V> {
  readonly windowSize: number;
  readonly retention: number;
  /** Writes to expired windows since the store was opened. */
  expiredWrites = 0;
  readonly idPrefix: Buffer;
  private readonly tables = new Map<number, RowTable<K, V>>();
  private readonly starts = new SortedNumbers();
  private recent: RowTable<K, V>;
  private observed = -1;
  private highestTime = -1;
  private minLive: number;
  private closedUpTo = Number.MIN_SAFE_INTEGER;
  private clearedBelow = Number.MIN_SAFE_INTEGER;
  private evictAt = 0;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.windowSize = environment.spec.windowSize ?? 0;
    this.retention = environment.spec.retention ?? 0;
    this.idPrefix = idPrefix(environment.id);
    this.minLive = -this.retention;
    this.recent = this.newTable(nowhere);
  }

  observedTime(): number {
    return this.highestTime;
  }

  fetch(key: K, windowStart: number): V | null {
    const row = this.peek(key, windowStart);
    return row === null ? null : row.value;
  }

  fetchWithTimestamp(key: K, windowStart: number): ValueAndTimestamp<V> | null {
    const row = this.peek(key, windowStart);
    return row === null || row.value === null ? null : { value: row.value, timestamp: row.timestamp };
  }

  put(key: K, value: V | null, windowStart: number, timestamp: number): void {
    this.write(this.locate(key, windowStart), value, timestamp);
  }

  locate(key: K, windowStart: number): WindowEntry<K, V> {
    const table = this.recent.windowStart === windowStart ? this.recent : this.tableToLocate(windowStart);
    if (windowStart < this.minLive) return new Row<K, V>(key, null, table, 0);
    return this.locateIn(table, key);
  }

  write(entry: WindowEntry<K, V>, value: V | null, timestamp: number): void {
    let row = this.rowOf(entry);
    const { windowStart } = row.table;
    if (windowStart < this.minLive) {
      this.expiredWrites++;
      return;
    }
    if (windowStart > this.observed) this.observe(windowStart);
    if (timestamp > this.highestTime) this.highestTime = timestamp;
    if (!row.table.registered) row = this.register(row);
    this.writeRow(row, value, timestamp);
  }

  async *fetchRange(
    key: K,
    from: number,
    to: number,
    options: { readonly reverse?: boolean } = {},
  ): AsyncGenerator<readonly [number, ValueAndTimestamp<V>], undefined> {
    checkFlag('fetchRange', options, 'reverse');
    const starts = this.liveStarts(from, to);
    if (options.reverse === true) starts.reverse();
    for (const start of starts) {
      this.assertOpen();
      const found = this.fetchWithTimestamp(key, start);
      if (found !== null) yield [start, found];
    }
  }

  async *fetchAll(from: number, to: number): AsyncGenerator<readonly [K, number, ValueAndTimestamp<V>], undefined> {
    for (const start of this.liveStarts(from, to)) {
      const table = this.tables.get(start);
      if (table === undefined || start < this.minLive) continue;
      for await (const page of scanPages(this, table, everyKey)) {
        for (const row of page) {
          this.assertOpen();
          yield [row.key, start, { value: row.value, timestamp: row.timestamp }];
        }
      }
    }
  }

  /** For readers: the table of a window that exists, and the starts of those. */
  tableAt(windowStart: number): RowTable<K, V> | undefined {
    return this.tables.get(windowStart);
  }

  startsBetween(from: number, to: number): number[] {
    return this.starts.between(from, to);
  }

  drainChanges(visit: (change: StoreChange<K, V> & { readonly windowStart: number }) => void | Promise<void>): void | Promise<void> {
    return this.drainRowChanges(visit);
  }

  drainClosed(upToStart: number, visit: Visit<K, V>): void | Promise<void> {
    this.assertOpen();
    const starts = this.starts.between(this.closedUpTo + 1, upToStart);
    for (let i = 0; i < starts.length; i++) {
      const table = this.tables.get(starts[i] as number) as RowTable<K, V>;
      if (this.engine !== null && table.mayMiss) return this.drainRest(null, [], 0, starts, i, upToStart, visit);
      const rows = table.ordered(null, null, false, Infinity);
      for (let j = 0; j < rows.length; j++) {
        const row = rows[j] as Row<K, V>;
        if (row.value === null) continue;
        const done = visit(row);
        if (isPromiseLike(done)) return this.drainRest(done, rows, j + 1, starts, i + 1, upToStart, visit);
      }
    }
    this.skipClosed(upToStart);
  }

  /** Windows with a start at or below it count as given out: for an operator that learns at its start how far the committed epochs got. */
  skipClosed(upToStart: number): void {
    this.closedUpTo = Math.min(Math.max(this.closedUpTo, upToStart), Number.MAX_SAFE_INTEGER);
  }

  private async drainRest(
    first: Promise<void> | null,
    rows: readonly Row<K, V>[],
    nextRow: number,
    starts: readonly number[],
    nextStart: number,
    upToStart: number,
    visit: Visit<K, V>,
  ): Promise<void> {
    await first;
    for (let j = nextRow; j < rows.length; j++) {
      const row = rows[j] as Row<K, V>;
      if (row.value !== null) await visit(row);
    }
    for (let i = nextStart; i < starts.length; i++) {
      const start = starts[i] as number;
      const table = this.tables.get(start);
      if (table === undefined) continue;
      for await (const page of scanPages(this, table, everyKey)) {
        for (const { key, value, timestamp } of page) await visit({ key, value, timestamp, windowStart: start });
      }
    }
    this.skipClosed(upToStart);
  }

  // ---- windows

  private peek(key: K, windowStart: number): Row<K, V> | null {
    if (windowStart < this.minLive) return null;
    const table = this.recent.windowStart === windowStart ? this.recent : this.tables.get(windowStart);
    if (table !== undefined) return this.peekIn(table, key);
    this.assertOpen();
    return null;
  }

  private tableToLocate(windowStart: number): RowTable<K, V> {
    this.recent = this.tables.get(windowStart) ?? this.newTable(windowStart);
    return this.recent;
  }

  private newTable(windowStart: number, mayMiss = false): RowTable<K, V> {
    return this.makeTable({ prefix: windowPrefix(this.idPrefix, windowStart), suffix: changelogSuffix(windowStart), windowStart }, mayMiss);
  }

  private register(row: Row<K, V>): Row<K, V> {
    const { table } = row;
    const present = this.tables.get(table.windowStart);
    if (present !== undefined) return this.locateIn(present, row.key);
    this.addTable(table);
    return row;
  }

  private addTable(table: RowTable<K, V>): void {
    table.registered = true;
    this.tables.set(table.windowStart, table);
    this.starts.add(table.windowStart);
  }

  private dropTable(start: number): void {
    const table = this.tables.get(start);
    if (table === undefined) return;
    this.counted.forget(table);
    table.drop();
    table.registered = false;
    this.tables.delete(start);
    if (this.recent === table) this.recent = this.newTable(nowhere);
  }

  private observe(windowStart: number): void {
    this.observed = windowStart;
    this.minLive = windowStart - this.retention + 1;
  }

  private liveStarts(from: number, to: number): number[] {
    return this.starts.between(Math.max(from, this.minLive), to);
  }

  approximateEntryCount(): number {
    return Math.round(this.estimateNumKeys);
  }

  get memoryBytes(): number {
    let bytes = this.unseenBytes;
    for (const table of this.tables.values()) bytes += table.bytes;
    return bytes;
  }

  // ---- what the task calls

  marks(): StoreMarks {
    const { observed, highestTime: observedTime, closedUpTo, counted } = this;
    return { observed, observedTime, closedUpTo, entries: counted.total, uncounted: counted.uncounted };
  }

  adoptMarks(marks: StoreMarks): void {
    if (marks.observed > this.observed) this.observe(marks.observed);
    this.highestTime = Math.max(this.highestTime, marks.observedTime);
    this.closedUpTo = marks.closedUpTo;
    this.counted.total = marks.entries;
    this.counted.uncounted = marks.uncounted ?? 0;
  }

  /** Finds the window starts in the engine, one seek each. */
  async attach(engineHasRows: boolean): Promise<void> {
    if (!engineHasRows || this.engine === null) return;
    const scan = this.engine.scan({ from: this.idPrefix, to: idPrefix(this.id + 1), keysOnly: true });
    try {
      for (;;) {
        const [found] = await scan.next(1);
        if (found === undefined) break;
        const start = startInEngineKey(found[0], this.idPrefix.length);
        this.addTable(this.newTable(start, true));
        scan.seek(windowPrefix(this.idPrefix, start + 1));
      }
    } finally {
      await scan.close();
    }
    this.counted.spread([...this.tables.values()]);
  }

  restore(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    batch: EngineBatch | null,
  ): void {
    if (keyEnd - keyStart < changelogSuffixBytes) {
      throw new MillraceError(
        'MILL_SERDE',
        `Store ${this.name}: a changelog key of ${keyEnd - keyStart} bytes is no key of a window store`,
        {
          details: { store: this.name, task: this.taskId },
        },
      );
    }
    const start = startInChangelogKey(key, keyEnd);
    if (start > this.observed) this.observe(start);
    if (timestamp > this.highestTime) this.highestTime = timestamp;
    if (start < this.minLive && this.spec.closeTracking !== true) return;
    const table = this.recent.windowStart === start ? this.recent : this.tableToLocate(start);
    if (!table.registered) this.addTable(table);
    this.restoreInto(table, timestamp, key, keyStart, keyEnd - changelogSuffixBytes, value, valueStart, valueEnd, batch);
  }

  expire(committed: StoreMarks): readonly (readonly [Buffer, Buffer])[] {
    let bound = committed.observed - this.retention + 1;
    if (this.spec.closeTracking === true) bound = Math.min(bound, committed.closedUpTo + 1);
    const { values } = this.starts;
    let dropped = 0;
    for (; dropped < values.length; dropped++) {
      const start = values[dropped] as number;
      if (start >= bound) break;
      if ((this.tables.get(start) as RowTable<K, V>).pinned > 0) {
        bound = start;
        break;
      }
      this.dropTable(start);
    }
    values.splice(0, dropped);
    return this.engineRangesBelow(bound);
  }

  /** Range deletes cost a walk over the range, so they wait until a segment's worth has expired. */
  private engineRangesBelow(bound: number): readonly (readonly [Buffer, Buffer])[] {
    if (this.engine === null || bound - this.clearedBelow < clearingInterval(this.retention)) return [];
    this.clearedBelow = bound;
    return [[this.idPrefix, windowPrefix(this.idPrefix, bound)]];
  }

  evict(steps: number): number {
    const { values } = this.starts;
    for (let i = 0; i < evictionTries && i < values.length; i++) {
      this.evictAt = (this.evictAt + 1) % values.length;
      const table = this.tables.get(values[this.evictAt] as number) as RowTable<K, V>;
      if (table.rows.size > table.pinned) return table.evict(steps);
    }
    return 0;
  }

  reset(): void {
    this.dropRows();
    this.observed = -1;
    this.highestTime = -1;
    this.minLive = -this.retention;
    this.closedUpTo = Number.MIN_SAFE_INTEGER;
    this.counted.reset();
  }

  override get countedFrom(): Buffer {
    const [lowest] = this.starts.values;
    return lowest === undefined ? this.idPrefix : windowPrefix(this.idPrefix, lowest);
  }

  /** Which windows had how many rows too many is not known. */
  override recounted(more: number, doubted: number): void {
    super.recounted(more, doubted);
    this.counted.spread([...this.tables.values()]);
  }

  override forgetClean(): void {
    if (this.engine !== null) for (const table of this.tables.values()) table.forgetClean();
  }

  protected dropRows(): void {
    for (const table of this.tables.values()) table.drop();
    this.tables.clear();
    this.starts.clear();
    this.recent = this.newTable(nowhere);
  }
}
