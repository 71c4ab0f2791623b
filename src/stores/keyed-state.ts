/**
 * What all stores share: rows in memory over the task's engine, and their way through the epochs.
 *
 *   active:  `locate` + `write` change a row in place; its first write in an epoch puts it on the dirty list and pins it
 *   frozen:  `freeze` serialises each dirty row once, into the changelog and into a layer of bytes; the active epoch goes on with the same rows
 *   due:     the epoch is committed in Kafka; the engine write takes the layer's bytes, so a row may have changed again meanwhile
 *   clean:   `release` unpins; memory and engine hold the same value, and the row may be evicted
 *
 * Invariant: the engine never holds a value of an epoch that is not committed, and every row that differs from the engine is pinned in memory.
 * Subclasses give rows their place (one table, or a table a window). Everything here runs synchronously inside the task.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { MillraceError } from '../errors.js';
import type { CompiledSerde } from '../serdes/serde.js';
import { watchBoth, type BeforeImages } from './reading/before-images.js';
import type { CacheBudget, Evictable } from './cache-budget.js';
import { ChangeList } from './change-list.js';
import { ChangelogRows } from './changelog-rows.js';
import type { Engine, EngineBatch } from './engine/engine.js';
import { FrozenLayer } from './frozen-layer.js';
import { Row, rowOverhead } from './row.js';
import { RowCount } from './row-count.js';
import { RowTable, type TableLayout } from './row-table.js';
import type { EpochState } from './epoch-state.js';
import type { StoreEntry, StoreKind, StoreSpec } from './store.js';
import { idPrefix, type ChangelogSink, type StoreEnvironment } from './store-environment.js';
import type { ScannedRow } from './table-scan.js';
import type { StoreMarks } from './store-marks.js';
import { valueError } from './value-error.js';
import { ValueSample } from './value-sample.js';

const timestampBytes = 8;
const maxSpareLayers = 2;
/** A layer whose buffer grew past this is not kept for reuse. */
const maxSpareBytes = 8 * 1024 * 1024;

/** Kinds whose rows hold lists: they keep track of changes by the entry and clean their rows at every freeze. */
function keepsLists(kind: StoreKind): boolean {
  return kind === 'session' || kind === 'slidingWindow' || kind === 'versioned';
}

export abstract class KeyedState<K, V> implements EpochState, Evictable {
  readonly name: string;
  readonly kind: StoreKind;
  readonly spec: StoreSpec;
  readonly taskId: string;
  readonly id: number;
  readonly engine: Engine | null;
  /** Bytes that the active epoch changed, estimated. */
  activeBytes = 0;
  closed = false;
  readonly keySerde: CompiledSerde<unknown>;
  protected readonly valueSerde: CompiledSerde<unknown>;
  readonly identity: boolean;
  /** Unchanged rows are left out of `drainChanges`. */
  readonly comparesChanges: boolean;
  protected readonly changes: ChangeList<K, V> | null;
  protected readonly counted = new RowCount<K, V>();
  private readonly budget: CacheBudget | null;
  readonly timestamped: boolean;
  protected readonly scratch = new ByteWriter(256);
  protected readonly values = new ValueSample();
  private readonly restored = new ChangelogRows<K, V>(this, this.scratch);
  /** Of the active epoch. */
  generation = 1;
  private dirty: Row<K, V>[] = [];
  private readonly spareLayers: FrozenLayer<K, V>[] = [];
  /** Frozen, and not in the engine yet. */
  private readonly frozen = new Set<FrozenLayer<K, V>>();
  /** In the engine, but kept for scans. */
  private held: FrozenLayer<K, V>[] = [];
  /** Up to this generation all writes are committed. */
  committedGeneration = 0;
  /** As of that generation; null: not known, since nothing was committed since the store was opened. */
  committedMarks: StoreMarks | null = null;
  /** Looks at rows before user code may change their values in place. */
  private watcher: { capture(row: Row<K, V>): void } | null;
  /** What the committed view needs; only while somebody reads it. */
  images: BeforeImages<K, V> | null = null;

  constructor(environment: StoreEnvironment) {
    const { spec } = environment;
    this.spec = spec;
    this.name = spec.name;
    this.kind = spec.kind;
    this.taskId = environment.taskId;
    this.id = environment.id;
    this.engine = environment.engine;
    this.budget = environment.engine === null ? null : environment.budget;
    this.keySerde = environment.keySerde;
    this.valueSerde = environment.valueSerde;
    this.identity = environment.keySerde.valueIsIdentity;
    this.timestamped = spec.kind === 'timestampedKeyValue' || spec.kind === 'timestampedWindow';
    this.comparesChanges = spec.comparesChanges === true;
    this.changes =
      spec.trackChanges === true && !keepsLists(spec.kind) ? new ChangeList<K, V>(environment.valueSerde, this.comparesChanges) : null;
    this.watcher = this.changes;
    this.budget?.add(this);
  }

  // ---- the hot path

  /** Replaces the row that was located. */
  writeRow(located: Row<K, V>, value: V | null, timestamp: number): void {
    const row = located.stamp === this.generation ? located : this.firstWrite(located);
    if (this.changes !== null && row.changeStamp !== this.changes.generation) this.changes.add(row);
    if (value === null) {
      if (row.value !== null) this.counted.add(row.table, -1);
      row.deletedAt = timestamp;
      row.timestamp = -1;
    } else {
      if (row.value === null) this.counted.add(row.table, 1);
      row.timestamp = timestamp;
    }
    row.value = value;
  }

  /** For values that are changed in place: the row, dirty and pinned from now on. */
  protected touch(located: Row<K, V>): Row<K, V> {
    return located.stamp === this.generation ? located : this.firstWrite(located);
  }

  protected locateIn(table: RowTable<K, V>, key: K, hash: unknown = this.identity ? key : this.hashOf(key)): Row<K, V> {
    const row = table.rows.get(hash);
    if (row === undefined) return this.load(table, key, hash);
    row.referenced = true;
    if (this.watcher !== null) this.watcher.capture(row);
    return row;
  }

  /** The row behind an entry that `locate` gave out. */
  protected rowOf(entry: StoreEntry<K, V>): Row<K, V> {
    if (entry instanceof Row) return entry as Row<K, V>;
    throw new MillraceError('MILL_STATE_INVALID', `Store ${this.name}: write takes what locate gave`, { details: { store: this.name } });
  }

  /** For reads alone: null when the row is absent, without making one. */
  protected peekIn(table: RowTable<K, V>, key: K, hash: unknown = this.identity ? key : this.hashOf(key)): Row<K, V> | null {
    const row = table.rows.get(hash);
    if (row === undefined && !table.mayMiss) {
      this.assertOpen();
      return null;
    }
    const found = this.locateIn(table, key, hash);
    return found.value === null ? null : found;
  }

  /** What a Map can tell keys apart by. */
  hashOf(key: K): string {
    this.scratch.reset();
    this.keySerde.encode(key, this.scratch);
    return this.scratch.buffer.toString('latin1', 0, this.scratch.length);
  }

  // ---- counting

  get estimateNumKeys(): number {
    return this.counted.estimate;
  }

  get uncounted(): number {
    return this.counted.uncounted;
  }

  abstract get memoryBytes(): number;

  /** Of values that are never serialised, as those of a store in memory without a changelog. */
  protected get unseenBytes(): number {
    return this.engine === null && !this.spec.logged ? Math.round(this.counted.total * this.values.meanBytes) : 0;
  }

  get countedFrom(): Buffer {
    return idPrefix(this.id);
  }

  recounted(more: number, doubted: number): void {
    this.counted.correct(more, doubted);
  }

  // ---- misses

  /** The key is serialised even when the engine need not be asked: a key of the wrong type fails here, at its record, and not at the barrier. */
  private load(table: RowTable<K, V>, key: K, hash: unknown): Row<K, V> {
    this.assertOpen();
    const out = this.scratch;
    out.reset();
    out.writeBytes(table.prefix);
    this.keySerde.encode(key, out);
    const row = this.absentRow(table, key, hash, out.length);
    if (table.mayMiss && this.engine !== null) {
      const bytes = this.engine.get(out.view());
      if (bytes !== undefined) {
        this.fill(row, bytes);
        table.link(row);
        if (this.watcher !== null) this.watcher.capture(row);
      }
    }
    return row;
  }

  protected absentRow(table: RowTable<K, V>, key: K, hash: unknown, keyBytes: number): Row<K, V> {
    return new Row<K, V>(key, hash, table, rowOverhead + keyBytes);
  }

  private firstWrite(located: Row<K, V>): Row<K, V> {
    this.assertOpen();
    const row = located.linked ? located : this.adopt(located);
    if (row.stamp === this.generation) return row;
    if (this.images !== null) this.activeBytes += this.images.beforeWrite(row);
    row.stamp = this.generation;
    row.isBrief = row.value === null && this.spec.briefRowsUnlogged === true;
    row.table.pin(row);
    this.dirty.push(row);
    this.activeBytes += row.size;
    return row;
  }

  /** Links a row that was located as absent, or evicted since, unless another took its place meanwhile. */
  private adopt(row: Row<K, V>): Row<K, V> {
    const present = row.table.rows.get(row.hash);
    if (present !== undefined) return present;
    row.table.link(row);
    return row;
  }

  private fill(row: Row<K, V>, bytes: Buffer): void {
    let start = 0;
    if (this.timestamped) {
      row.timestamp = Number(bytes.readBigInt64BE(0));
      start = timestampBytes;
    } else {
      row.timestamp = 0;
    }
    row.value = this.valueOf(row.key, bytes, start, bytes.length);
    row.size += this.copies * bytes.length;
  }

  /** `decodeValue`, whose error names the key. */
  valueOf(key: K, bytes: Buffer, start: number, end: number): V {
    try {
      return this.decodeValue(bytes, start, end);
    } catch (cause) {
      throw valueError(this, key, cause);
    }
  }

  decodeValue(bytes: Buffer, start: number, end: number): V {
    return this.valueSerde.decodeSync(bytes, start, end) as V;
  }

  // ---- epochs

  /** Serialises what the active epoch changed; null when it changed nothing. */
  freeze(sink: ChangelogSink | null): FrozenLayer<K, V> | null {
    const { dirty } = this;
    if (dirty.length === 0) {
      this.images?.forgetActive();
      return null;
    }
    const layer = this.spareLayers.pop() ?? new FrozenLayer<K, V>();
    layer.generation = this.generation;
    layer.rows = dirty;
    layer.marks = this.marks();
    if (this.engine !== null || sink !== null || keepsLists(this.kind)) {
      for (const row of dirty) this.freezeRow(row, layer, sink);
    } else {
      for (const row of dirty) if (row.value !== null) this.values.look(row.value, this.valueSerde);
    }
    this.dirty = [];
    this.frozen.add(layer);
    if (this.images?.seal() === false) this.keepImages(null);
    this.generation++;
    this.activeBytes = 0;
    return layer;
  }

  /** Rows of tables that were dropped as expired need not get to the engine. */
  protected forgetExpired(): void {
    for (const layer of this.frozen) layer.forgetExpired();
  }

  /** The epoch of the layer is committed in Kafka. */
  layerCommitted(layer: FrozenLayer<K, V>): void {
    this.committedGeneration = layer.generation;
    this.committedMarks = layer.marks;
    this.images?.committed(layer.generation);
  }

  protected freezeRow(row: Row<K, V>, layer: FrozenLayer<K, V>, sink: ChangelogSink | null): void {
    const { table, value } = row;
    const out = layer.bytes;
    // Without an engine nobody reads the bytes again once the sink has copied them.
    if (this.engine === null) out.reset();
    const start = out.length;
    out.writeBytes(table.prefix);
    const keyStart = out.length;
    this.keySerde.encode(row.key, out);
    const keyEnd = out.length;
    if (table.suffix !== null) out.writeBytes(table.suffix);
    const changelogKeyEnd = out.length;
    if (value === null) {
      if (sink !== null && !row.isBrief) sink.append(this.name, row.deletedAt, out.buffer, keyStart, changelogKeyEnd, null, 0, 0);
      if (this.engine !== null) layer.add(start, keyEnd, -1, out.length);
      return;
    }
    if (this.timestamped) out.writeInt64(row.timestamp);
    const valueStart = out.length;
    this.encodeValue(row.key, value, out);
    if (sink !== null) sink.append(this.name, row.timestamp, out.buffer, keyStart, changelogKeyEnd, out.buffer, valueStart, out.length);
    this.resize(row, keyEnd - start, out.length - changelogKeyEnd);
    if (this.engine !== null) layer.add(start, keyEnd, changelogKeyEnd, out.length);
  }

  /** A value in memory counts twice its bytes; once more when its bytes are kept, to be compared. */
  private get copies(): number {
    return this.comparesChanges ? 3 : 2;
  }

  /** The bytes of a dirty row became known. */
  protected resize(row: Row<K, V>, keyBytes: number, valueBytes: number): void {
    row.table.resize(row, this.rowBytes(keyBytes, valueBytes));
  }

  rowBytes(keyBytes: number, valueBytes: number): number {
    return rowOverhead + keyBytes + this.copies * valueBytes;
  }

  protected encodeValue(key: K, value: unknown, out: ByteWriter): void {
    try {
      this.valueSerde.encode(value, out);
    } catch (cause) {
      throw valueError(this, key, cause);
    }
  }

  /** The engine has the layer's rows, or newer ones, or there is no engine. */
  release(layer: FrozenLayer<K, V>): void {
    // A store in memory has its rows nowhere else: while a scan is under way none leaves.
    if (this.engine === null && this.hasSnapshots) {
      this.held.push(layer);
      return;
    }
    if (this.held.length > 0) this.releaseHeld();
    this.frozen.delete(layer);
    for (const row of layer.rows) row?.table.unpin(row);
    layer.reset();
    if (this.spareLayers.length < maxSpareLayers && layer.bytes.buffer.length <= maxSpareBytes) this.spareLayers.push(layer);
  }

  protected drainRowChanges(visit: Parameters<ChangeList<K, V>['drain']>[0]): void | Promise<void> {
    if (this.changes === null) {
      throw new MillraceError('MILL_STATE_INVALID', `Store ${this.name} was not built with trackChanges`, {
        details: { store: this.name },
      });
    }
    return this.changes.drain(visit);
  }

  /** Rows in memory go, the committed ones stay in the engine. Every later use throws MILL_STORE_CLOSED, at no cost to the hot path: it misses. */
  close(): void {
    this.closed = true;
    this.dirty = [];
    this.spareLayers.length = 0;
    this.frozen.clear();
    this.held = [];
    this.keepImages(null);
    this.dropRows();
  }

  assertOpen(): void {
    if (this.closed) {
      throw new MillraceError('MILL_STORE_CLOSED', `Store ${this.name} of task ${this.taskId} is closed`, {
        details: { store: this.name, task: this.taskId },
      });
    }
  }

  // ---- what readers from outside need (reading/)

  /** Starts or stops keeping what rows held before the open epochs changed them. */
  keepImages(images: BeforeImages<K, V> | null): void {
    this.images = images;
    this.watcher = images === null ? this.changes : watchBoth(this, images, this.changes);
  }

  get hasSnapshots(): boolean {
    return this.images?.hasSnapshots === true;
  }

  get isDirty(): boolean {
    return this.dirty.length > 0;
  }

  /** Rows whose newest value the engine does not have, each once. */
  pinnedRows(): Set<Row<K, V>> {
    const rows = new Set(this.dirty);
    for (const layer of this.frozen) for (const row of layer.rows) if (row !== null) rows.add(row);
    return rows;
  }

  /** Bytes that `decodeValue` reads. */
  encodeImage(row: Row<K, V>, value: V, out: ByteWriter): void {
    this.encodeValue(row.key, value, out);
  }

  /** Releases what was kept for scans that have ended. */
  releaseHeld(): void {
    const layers = this.held;
    this.held = [];
    for (const layer of layers) this.release(layer);
  }

  // ---- restore

  /** What changelog records changed in stores that merge them into rows, frozen for the batch of the restore; null when there is nothing. */
  freezeRestored(): FrozenLayer<K, V> | null {
    return null;
  }

  /** Adds one changelog record to `batch` (LevelDB) or to the rows in memory. The bytes are the changelog's. */
  restoreInto(
    table: RowTable<K, V>,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    batch: EngineBatch | null,
  ): void {
    if (batch === null) {
      this.counted.add(table, this.restored.intoMemory(table, timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd));
      return;
    }
    this.counted.addRestored(table, this.restored.intoEngine(table, timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd, batch));
  }

  /** Clean rows of an engine leave memory. */
  forgetClean(): void {
    // Stores that merge changelog records into rows have no row in memory that differs from the engine's.
  }

  // ---- what subclasses share

  protected makeTable(layout: TableLayout, mayMiss: boolean): RowTable<K, V> {
    return new RowTable<K, V>(layout, mayMiss, this.budget, (row) => this.orderOf(row));
  }

  /** Key bytes as a latin1 string: the order of range scans. */
  orderOf(row: Row<K, V>): string {
    return this.identity ? this.keyOrder(row.key) : (row.hash as string);
  }

  keyOrder(key: K): string {
    return this.hashOf(key);
  }

  decodeKey(bytes: Buffer, start: number): K {
    return this.keySerde.decodeSync(bytes, start, bytes.length) as K;
  }

  /** A row that a scan read from the engine. */
  scannedRow(table: RowTable<K, V>, engineKey: Buffer, engineValue: Buffer): ScannedRow<K, V> {
    const key = this.decodeKey(engineKey, table.prefix.length);
    return { key, ...this.rowFromEngine(key, engineValue) };
  }

  rowFromEngine(key: K, bytes: Buffer): { readonly value: V; readonly timestamp: number } {
    const start = this.timestamped ? timestampBytes : 0;
    return { value: this.valueOf(key, bytes, start, bytes.length), timestamp: this.timestamped ? Number(bytes.readBigInt64BE(0)) : 0 };
  }

  abstract evict(steps: number): number;
  abstract marks(): StoreMarks;
  abstract adoptMarks(marks: StoreMarks): void;
  /** Finds out what the engine holds, once, before the store is used. */
  abstract attach(engineHasRows: boolean): Promise<void>;
  /** Adds one changelog record; the key may carry a window. */
  abstract restore(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    batch: EngineBatch | null,
  ): void;
  /** After an engine write: drops what is out of retention; returns engine ranges to clear. */
  abstract expire(committed: StoreMarks): readonly (readonly [Buffer, Buffer])[];
  protected abstract dropRows(): void;
  /** Forgets everything, as if the store had never been written. */
  abstract reset(): void;
}
