/** The key-value store with timestamps: one table of rows. The DSL's aggregations, tables and joins use it through `locate` and `write`. */
import { KeyedState } from './keyed-state.js';
import type { EngineBatch } from './engine/engine.js';
import type { RowTable } from './row-table.js';
import { checkKeyRange } from './range-options.js';
import type { KeyRange, StoreChange, StoreEntry, TimestampedKeyValueStore, ValueAndTimestamp } from './store.js';
import { idPrefix } from './store-environment.js';
import type { StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { afterPrefix, justAfter, scanPages } from './table-scan.js';
import type { ScannedRow, ScanRange } from './table-scan.js';

export class KeyValueState<K, V> extends KeyedState<K, V> implements TimestampedKeyValueStore<K, V> {
  readonly table: RowTable<K, V>;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.table = this.makeTable({ prefix: idPrefix(environment.id), suffix: null, windowStart: 0 }, false);
  }

  get(key: K): V | null {
    const row = this.peekIn(this.table, key);
    return row === null ? null : row.value;
  }

  getWithTimestamp(key: K): ValueAndTimestamp<V> | null {
    const row = this.peekIn(this.table, key);
    return row === null || row.value === null ? null : { value: row.value, timestamp: row.timestamp };
  }

  put(key: K, value: V | null, timestamp: number): void {
    this.writeRow(this.locateIn(this.table, key), value, timestamp);
  }

  locate(key: K): StoreEntry<K, V> {
    return this.locateIn(this.table, key);
  }

  write(entry: StoreEntry<K, V>, value: V | null, timestamp: number): void {
    this.writeRow(this.rowOf(entry), value, timestamp);
  }

  async *range(range: KeyRange<K> = {}): AsyncGenerator<readonly [K, ValueAndTimestamp<V>], undefined> {
    for await (const page of this.rangePages(range)) {
      for (const row of page) {
        this.assertOpen();
        yield [row.key, { value: row.value, timestamp: row.timestamp }];
      }
    }
  }

  async *prefixScan(prefix: Uint8Array): AsyncGenerator<readonly [K, ValueAndTimestamp<V>], undefined> {
    for await (const page of this.prefixPages(prefix)) {
      for (const row of page) {
        this.assertOpen();
        yield [row.key, { value: row.value, timestamp: row.timestamp }];
      }
    }
  }

  rangePages(range: KeyRange<K>): AsyncGenerator<ScannedRow<K, V>[], undefined> {
    return scanPages(this, this.table, this.scanRange(range));
  }

  prefixPages(prefix: Uint8Array): AsyncGenerator<ScannedRow<K, V>[], undefined> {
    const from = Buffer.from(prefix).toString('latin1');
    return scanPages(this, this.table, { from, to: afterPrefix(from), reverse: false });
  }

  /** Keys of the rows in memory, in the order of their arrival there. */
  *keysInMemory(): Generator<K, undefined> {
    for (const row of this.table.rows.values()) if (row.value !== null) yield row.key;
  }

  approximateEntryCount(): number {
    return this.estimateNumKeys;
  }

  get memoryBytes(): number {
    return this.table.bytes + this.unseenBytes;
  }

  drainChanges(visit: (change: StoreChange<K, V>) => void | Promise<void>): void | Promise<void> {
    return this.drainRowChanges(visit);
  }

  evict(steps: number): number {
    return this.table.evict(steps);
  }

  marks(): StoreMarks {
    return { observed: -1, observedTime: -1, closedUpTo: -1, entries: this.counted.total, uncounted: this.counted.uncounted };
  }

  adoptMarks(marks: StoreMarks): void {
    this.counted.total = this.table.entries = marks.entries;
    this.counted.uncounted = marks.uncounted ?? 0;
  }

  async attach(engineHasRows: boolean): Promise<void> {
    this.table.mayMiss = engineHasRows;
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
    this.restoreInto(this.table, timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd, batch);
  }

  expire(): readonly (readonly [Buffer, Buffer])[] {
    return [];
  }

  override forgetClean(): void {
    if (this.engine !== null) this.table.forgetClean();
  }

  protected dropRows(): void {
    this.table.drop();
  }

  reset(): void {
    this.table.drop();
    this.table.mayMiss = false;
    this.counted.reset();
    this.table.entries = 0;
  }

  private scanRange(range: KeyRange<K>): ScanRange {
    checkKeyRange(range);
    return {
      from: range.from === undefined ? null : this.keyOrder(range.from),
      to: range.to === undefined ? null : justAfter(this.keyOrder(range.to)),
      reverse: range.reverse ?? false,
    };
  }
}
