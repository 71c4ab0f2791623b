/**
 * What the stores with lists in their rows share: sessions, sliding windows, versions. All that one key has in one segment of time is one row,
 * so that reads of a key over a range of time are a few synchronous look-ups.
 *
 * The changelog has a record for each entry, not for each row: a subclass notes what an epoch changed and writes it in `writeLog`, in the order of the changes.
 * Restoring merges records into rows like writes do; what they changed goes into the restore's own batch.
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { EngineBatch } from './engine/engine.js';
import type { FrozenLayer } from './frozen-layer.js';
import { KeyedState } from './keyed-state.js';
import type { Row } from './row.js';
import type { RowTable } from './row-table.js';
import { segmentIntervalOf } from './segment-interval.js';
import { findSegments } from './segment-scan.js';
import { SegmentTables } from './segment-tables.js';
import { idPrefix } from './store-environment.js';
import type { ChangelogSink, StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { valueErrorAt } from './value-error.js';
import { windowPrefix } from './window-key.js';

/** Bytes of an entry or a version beside its value, estimated. */
const valueOverhead = 80;

export abstract class SegmentedState<K, R> extends KeyedState<K, R> {
  /** Writes to what has expired, since the store was opened. */
  expiredWrites = 0;
  protected readonly interval: number;
  readonly tables: SegmentTables<K, R>;
  /** Highest time that expiry follows, -1 before the first write. */
  protected observed = -1;
  protected highestTime = -1;
  protected closedUpTo = Number.MIN_SAFE_INTEGER;
  protected restoring = false;
  private readonly idPrefix: Buffer;
  private clearedBelow = Number.MIN_SAFE_INTEGER;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.interval = segmentIntervalOf(environment.spec);
    this.idPrefix = idPrefix(environment.id);
    this.tables = new SegmentTables(
      (start, mayMiss) => this.segmentTable(start, mayMiss),
      (table) => this.counted.forget(table),
    );
  }

  /** Start of the segment that `time` lies in. */
  segmentOf(time: number): number {
    return Math.floor(time / this.interval) * this.interval;
  }

  protected segmentTable(start: number, mayMiss: boolean): RowTable<K, R> {
    return this.makeTable({ prefix: windowPrefix(this.idPrefix, start), suffix: null, windowStart: start }, mayMiss);
  }

  get memoryBytes(): number {
    const { bytes } = this.tables;
    return this.engine === null ? bytes + Math.round(this.valuesInMemory * (valueOverhead + this.values.meanBytes)) : bytes;
  }

  /** Of a store in memory alone, whose rows do not know their bytes. */
  protected abstract get valuesInMemory(): number;

  // ---- epochs

  /** Writes what the epoch changed to the changelog. */
  protected abstract writeLog(layer: FrozenLayer<K, R>, sink: ChangelogSink): void;
  protected abstract forgetLog(): void;
  /** Brings a dirty row into the form that is kept; null when nothing is left. */
  protected abstract settleRow(row: Row<K, R>): R | null;
  protected abstract encodeRow(row: Row<K, R>, value: R, out: ByteWriter): void;

  override freeze(sink: ChangelogSink | null): FrozenLayer<K, R> | null {
    const layer = super.freeze(sink);
    if (layer !== null && sink !== null) this.writeLog(layer, sink);
    this.forgetLog();
    return layer;
  }

  protected override freezeRow(row: Row<K, R>, layer: FrozenLayer<K, R>): void {
    const value = this.settleRow(row);
    row.value = value;
    if (this.engine === null) return;
    const out = layer.bytes;
    const start = out.length;
    out.writeBytes(row.table.prefix);
    this.keySerde.encode(row.key, out);
    const keyEnd = out.length;
    if (value === null) {
      layer.add(start, keyEnd, -1, keyEnd);
      return;
    }
    this.encodeRow(row, value, out);
    layer.add(start, keyEnd, keyEnd, out.length);
    this.resize(row, keyEnd - start, out.length - keyEnd);
  }

  /** Of a changelog record, before its key is looked at. */
  protected mergedValue<V>(key: Buffer, keyStart: number, keyEnd: number, value: Buffer, valueStart: number, valueEnd: number): V {
    try {
      return this.valueSerde.decodeSync(value, valueStart, valueEnd) as V;
    } catch (cause) {
      throw valueErrorAt(this, key, keyStart, keyEnd, cause);
    }
  }

  override freezeRestored(): FrozenLayer<K, R> | null {
    if (!this.restoring) return null;
    this.restoring = false;
    const layer = this.freeze(null);
    if (layer !== null) this.layerCommitted(layer);
    return layer;
  }

  override encodeImage(row: Row<K, R>, value: R, out: ByteWriter): void {
    this.encodeRow(row, value, out);
  }

  // ---- what the task calls

  marks(): StoreMarks {
    return { observed: this.observed, observedTime: this.highestTime, closedUpTo: this.closedUpTo, entries: this.counted.total };
  }

  adoptMarks(marks: StoreMarks): void {
    this.observed = Math.max(this.observed, marks.observed);
    this.highestTime = Math.max(this.highestTime, marks.observedTime);
    this.closedUpTo = marks.closedUpTo;
    this.counted.total = marks.entries;
  }

  async attach(engineHasRows: boolean): Promise<void> {
    if (!engineHasRows || this.engine === null) return;
    await findSegments(this.engine, this.idPrefix, idPrefix(this.id + 1), (start) => this.foundSegment(start));
  }

  protected foundSegment(start: number): void {
    this.tables.open(start, true);
  }

  restore(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    // Rows are merged in memory and written by `freezeRestored`.
    _batch: EngineBatch | null,
  ): void {
    this.restoring = true;
    if (value !== null) this.values.saw(valueEnd - valueStart);
    this.merge(timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd);
  }

  protected abstract merge(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void;

  /** Segments that start below it hold nothing that anybody may still see. */
  protected abstract expiredBelow(committed: StoreMarks): number;

  expire(committed: StoreMarks): readonly (readonly [Buffer, Buffer])[] {
    const bound = this.tables.dropBelow(this.expiredBelow(committed));
    if (this.engine === null || bound <= this.clearedBelow) return [];
    this.clearedBelow = bound;
    return [[this.idPrefix, windowPrefix(this.idPrefix, bound)]];
  }

  evict(steps: number): number {
    return this.tables.evict(steps);
  }

  reset(): void {
    this.dropRows();
    this.forgetLog();
    this.observed = -1;
    this.highestTime = -1;
    this.closedUpTo = Number.MIN_SAFE_INTEGER;
    this.counted.total = 0;
    this.restoring = false;
  }

  protected dropRows(): void {
    this.tables.clear();
  }
}
