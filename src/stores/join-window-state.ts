/**
 * The records of one side of a stream-stream join. Changelog as window stores that retain duplicates: key bytes, 8-byte timestamp, 4-byte sequence.
 *
 * The sequence counts the records with that key and timestamp. Kafka Streams counts all puts of the store instead, which begins again with every start and would let
 * a record replace another one of an earlier life; readers of the changelog need it distinct and increasing, no more.
 *
 * Records are put once and never changed, so they are kept as the bytes of their changelog records (`records/`), which the barrier hands on as they are. Values are decoded when they are
 * fetched. A record whose epoch is committed when its time is out of retention never gets to the engine: where the log is read as fast as it can be, most do not.
 * In the engine a row is a key's records of one segment, in the format of the list kinds.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { murmur2 } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { CacheBudget } from './cache-budget.js';
import type { Engine, EngineBatch } from './engine/engine.js';
import type { EpochState } from './epoch-state.js';
import { RecordLayer } from './records/record-layer.js';
import { none } from './records/record-memory.js';
import type { RecordSegment } from './records/record-segment.js';
import { RecordSegments } from './records/record-segments.js';
import { segmentIntervalOf } from './segment-interval.js';
import { findSegments } from './segment-scan.js';
import type { JoinWindowStore, StoreSpec } from './store.js';
import { idPrefix } from './store-environment.js';
import type { ChangelogSink, StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { valueError } from './value-error.js';
import { changelogSuffixBytes, startInChangelogKey, windowPrefix } from './window-key.js';

interface JoinRecord<V> {
  readonly timestamp: number;
  readonly value: V;
}

const nothing: readonly never[] = Object.freeze([]);
const sequenceBytes = 4;
/** Fields of a record in memory. */
const recordOverhead = 60;
/** time, sequence, time once more as doubles; length of the value. */
const rowHeaderBytes = 28;
const maxSpareLayers = 2;
/** Generation of what the engine has. */
const fromEngine = 0;

export class JoinWindowState<K, V> implements EpochState, JoinWindowStore<K, V> {
  readonly name: string;
  readonly kind = 'joinWindow';
  readonly spec: StoreSpec;
  readonly taskId: string;
  readonly id: number;
  readonly engine: Engine | null;
  readonly retention: number;
  readonly hasSnapshots = false;
  readonly uncounted = 0;
  activeBytes = 0;
  /** Writes to what has expired, since the store was opened. */
  expiredWrites = 0;
  private readonly interval: number;
  private readonly idPrefix: Buffer;
  private readonly budget: CacheBudget | null;
  private readonly keySerde: CompiledSerde<unknown>;
  private readonly valueSerde: CompiledSerde<unknown>;
  private readonly segments: RecordSegments;
  /** Highest timestamp put, -1 before the first. */
  private observed = -1;
  /** Of the active epoch. */
  private generation = 1;
  private active: RecordLayer;
  private readonly frozen = new Set<RecordLayer>();
  private readonly spareLayers: RecordLayer[] = [];
  private restoring = false;
  private closed = false;
  /** Rows of segments that were let go of are still in the engine. */
  private mustClear = false;
  /** Records when the engine was written last. */
  private foundRecords = 0;
  /** The key in work. */
  private readonly key = new ByteWriter(64);
  private readonly row = new ByteWriter(1024);
  private readonly found: number[] = [];
  private readonly decode: (buffer: Buffer, start: number, end: number) => unknown;

  constructor(environment: StoreEnvironment) {
    const { spec, engine } = environment;
    this.name = spec.name;
    this.spec = spec;
    this.taskId = environment.taskId;
    this.id = environment.id;
    this.engine = engine;
    this.retention = spec.retention ?? 0;
    this.interval = segmentIntervalOf(spec);
    this.idPrefix = idPrefix(environment.id);
    this.budget = engine === null ? null : environment.budget;
    this.keySerde = environment.keySerde;
    this.valueSerde = environment.valueSerde;
    this.decode = (buffer, start, end) => this.valueSerde.decodeSync(buffer, start, end);
    this.active = new RecordLayer(this.putKey);
    this.segments = new RecordSegments(this.budget, (start) => windowPrefix(this.idPrefix, start), {
      active: () => this.active,
      frozen: () => this.frozen,
      mayEvict: () => !this.restoring,
    });
  }

  // ---- what operators call

  /** Also of records that were not kept: with a retention of 0 none is. */
  observedTime(): number {
    return this.observed;
  }

  put(key: K, value: V, timestamp: number): void {
    this.mustBeOpen();
    if (timestamp > this.observed) this.observed = timestamp;
    if (timestamp < this.minLive) {
      this.expiredWrites++;
      return;
    }
    this.budget?.makeRoom(recordOverhead);
    const segment = this.segments.open(this.segmentOf(timestamp));
    const number = this.keyIn(segment, this.takeKey(key));
    const { memory } = segment;
    const { bytes } = memory;
    const before = bytes.length;
    const sequence = memory.nextSequence(number, timestamp);
    const start = memory.open(number, timestamp, sequence);
    const valueStart = bytes.length;
    try {
      this.valueSerde.encode(value, bytes);
    } catch (cause) {
      bytes.length = before;
      throw valueError(this, key, cause);
    }
    this.segments.countRecords(segment, 1);
    this.noteDirty(segment, memory.close(start, valueStart, number, timestamp, sequence, this.generation), bytes.length - before);
  }

  fetch(key: K, from: number, to: number): readonly JoinRecord<V>[] {
    this.mustBeOpen();
    const first = Math.max(from, this.minLive);
    const { all } = this.segments;
    const hash = this.takeKey(key);
    let found: JoinRecord<V>[] | null = null;
    for (let i = this.segments.indexFrom(this.segmentOf(first)); i < all.length; i++) {
      const segment = all[i] as RecordSegment;
      if (segment.start > to) break;
      const number = this.keyOrNone(segment, hash);
      if (number === none) continue;
      const { memory } = segment;
      const at = found === null ? 0 : found.length;
      for (let record = memory.latest(number); record !== none; record = memory.earlier(record)) {
        const timestamp = memory.time(record);
        if (timestamp > to) continue;
        if (timestamp < first) break;
        (found ??= []).push({ timestamp, value: this.valueOf(key, memory, record) });
      }
      if (found !== null) reverseFrom(found, at);
    }
    return found ?? nothing;
  }

  private valueOf(key: K, memory: RecordSegment['memory'], record: number): V {
    try {
      return memory.value(record, this.decode) as V;
    } catch (cause) {
      throw valueError(this, key, cause);
    }
  }

  get estimateNumKeys(): number {
    return this.segments.records;
  }

  get countedFrom(): Buffer {
    return this.idPrefix;
  }

  recounted(): void {
    // Every record was counted.
  }

  get memoryBytes(): number {
    return this.segments.memoryBytes;
  }

  // ---- keys

  /** Lowest time that is visible. */
  private get minLive(): number {
    return this.observed - this.retention + 1;
  }

  private segmentOf(time: number): number {
    return Math.floor(time / this.interval) * this.interval;
  }

  /** Serialises the key; what looks it up afterwards needs the hash. */
  private takeKey(key: K): number {
    const out = this.key;
    out.reset();
    this.keySerde.encode(key, out);
    return murmur2(out.buffer, 0, out.length);
  }

  private keyOrNone(segment: RecordSegment, hash: number): number {
    const number = segment.memory.find(hash, this.key.buffer, 0, this.key.length);
    return number === none && segment.mayMiss ? this.load(segment, hash) : number;
  }

  private keyIn(segment: RecordSegment, hash: number): number {
    const number = this.keyOrNone(segment, hash);
    return number === none ? segment.memory.addKey(hash, this.key.buffer, 0, this.key.length) : number;
  }

  /** Takes the key in work over from the engine, all its records of the segment, also when there are none. */
  private load(segment: RecordSegment, hash: number): number {
    if (this.engine === null) return none;
    this.budget?.makeRoom(recordOverhead);
    const { key, row } = this;
    row.reset();
    row.writeBytes(segment.prefix);
    row.writeBytes(key.buffer, 0, key.length);
    const { memory } = segment;
    const number = memory.addKey(hash, key.buffer, 0, key.length);
    const bytes = this.engine.get(row.view());
    for (let at = 0; bytes !== undefined && at < bytes.length;) {
      const end = at + rowHeaderBytes + bytes.readInt32BE(at + rowHeaderBytes - 4);
      this.addRecord(segment, number, bytes.readDoubleBE(at), bytes.readDoubleBE(at + 8), bytes, at + rowHeaderBytes, end, fromEngine);
      at = end;
    }
    this.segments.count(segment);
    return number;
  }

  private addRecord(
    { memory }: RecordSegment,
    key: number,
    time: number,
    sequence: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
    generation: number,
  ): number {
    const start = memory.open(key, time, sequence);
    const at = memory.bytes.length;
    memory.bytes.writeBytes(value, valueStart, valueEnd);
    return memory.close(start, at, key, time, sequence, generation);
  }

  /** The record is of the active epoch: its segment is pinned, and it gets into the changelog and the engine. */
  private noteDirty(segment: RecordSegment, record: number, bytes: number): void {
    const { active, budget } = this;
    if (segment.stamp !== this.generation) {
      segment.stamp = this.generation;
      segment.pins++;
      segment.activeBytes = 0;
      active.pinned.push(segment);
    }
    active.add(segment, record);
    const size = bytes + recordOverhead;
    segment.activeBytes += size;
    segment.dirtyBytes += size;
    this.activeBytes += size;
    if (budget !== null) {
      budget.pinned += size;
      this.segments.count(segment);
    }
  }

  // ---- epochs

  freeze(sink: ChangelogSink | null): RecordLayer | null {
    const layer = this.active;
    if (layer.rowCount === 0) return null;
    layer.generation = this.generation;
    layer.marks = this.marks();
    layer.byteLength = this.activeBytes;
    for (const { activeBytes } of layer.pinned) layer.pinnedBytes.push(activeBytes);
    const { segments, numbers } = layer;
    for (let i = 0; i < segments.length; i++) {
      const { memory } = segments[i] as RecordSegment;
      const record = numbers[i] as number;
      if (sink !== null) {
        const { buffer } = memory.bytes;
        const valueStart = memory.valueStart(record);
        sink.append(this.name, memory.time(record), buffer, memory.start(record), valueStart, buffer, valueStart, memory.end(record));
      }
      numbers[i] = memory.keyOf(record);
    }
    this.frozen.add(layer);
    this.active = this.spareLayers.pop() ?? new RecordLayer(this.putKey);
    this.generation++;
    this.activeBytes = 0;
    return layer;
  }

  /** What is out of retention as of a committed epoch is needed by nobody: neither by reads nor by an engine that is to be at that epoch or a later one. */
  layerCommitted(layer: RecordLayer): void {
    if (this.segments.dropBelow(this.expiredBelow(layer.marks))) this.mustClear = true;
  }

  release(layer: RecordLayer): void {
    this.frozen.delete(layer);
    this.segments.unpin(layer);
    this.segments.trim();
    layer.reset();
    if (this.spareLayers.length < maxSpareLayers) this.spareLayers.push(layer);
  }

  private readonly putKey = (batch: EngineBatch, segment: RecordSegment, key: number, layer: RecordLayer): void => {
    const { row, found } = this;
    const { memory } = segment;
    const { buffer } = memory.bytes;
    const firstLive = layer.marks.observed - this.retention + 1;
    row.reset();
    row.writeBytes(segment.prefix);
    row.writeBytes(buffer, memory.keyStart(key), memory.keyEnd(key));
    const keyEnd = row.length;
    found.length = 0;
    for (let record = memory.latest(key); record !== none && memory.time(record) >= firstLive; record = memory.earlier(record)) {
      if (memory.generation(record) <= layer.generation) found.push(record);
    }
    for (let i = found.length - 1; i >= 0; i--) {
      const record = found[i] as number;
      const time = memory.time(record);
      const valueStart = memory.valueStart(record);
      const valueEnd = memory.end(record);
      row.writeDouble(time);
      row.writeDouble(memory.sequence(record));
      row.writeDouble(time);
      row.writeInt32(valueEnd - valueStart);
      row.writeBytes(buffer, valueStart, valueEnd);
    }
    if (found.length > 0) {
      segment.inEngine = true;
      batch.put(row.buffer.subarray(0, keyEnd), row.buffer.subarray(keyEnd, row.length));
    } else if (segment.inEngine) {
      batch.delete(row.buffer.subarray(0, keyEnd));
    }
  };

  private expiredBelow({ observed }: StoreMarks): number {
    return this.segmentOf(observed - this.retention + 1);
  }

  expire(committed: StoreMarks): readonly (readonly [Buffer, Buffer])[] {
    const bound = this.expiredBelow(committed);
    if (this.segments.dropBelow(bound)) this.mustClear = true;
    if (this.engine === null || !this.mustClear) return [];
    this.mustClear = false;
    return [[this.idPrefix, windowPrefix(this.idPrefix, bound)]];
  }

  marks(): StoreMarks {
    return { observed: this.observed, observedTime: this.observed, closedUpTo: Number.MIN_SAFE_INTEGER, entries: this.segments.records };
  }

  adoptMarks(marks: StoreMarks): void {
    this.observed = Math.max(this.observed, marks.observed);
    this.foundRecords = marks.entries;
  }

  async attach(engineHasRows: boolean): Promise<void> {
    if (!engineHasRows || this.engine === null) return;
    await findSegments(this.engine, this.idPrefix, idPrefix(this.id + 1), (start) => this.segments.open(start, true));
    this.segments.spreadRecords(this.foundRecords);
  }

  // ---- restore

  restore(
    _timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (keyEnd - keyStart < changelogSuffixBytes) {
      throw new MillraceError(
        'MILL_SERDE',
        `Store ${this.name}: a changelog key of ${keyEnd - keyStart} bytes is no key of a ${this.kind} store`,
        { details: { store: this.name, task: this.taskId } },
      );
    }
    this.restoring = true;
    const time = startInChangelogKey(key, keyEnd);
    if (time > this.observed) this.observed = time;
    if (time < this.minLive) return;
    const out = this.key;
    out.reset();
    out.writeBytes(key, keyStart, keyEnd - changelogSuffixBytes);
    const segment = this.segments.open(this.segmentOf(time));
    const number = this.keyIn(segment, murmur2(out.buffer, 0, out.length));
    const sequence = key.readInt32BE(keyEnd - sequenceBytes);
    const present = segment.memory.recordAt(number, time, sequence);
    if (present !== none) {
      segment.memory.remove(present);
      this.segments.countRecords(segment, -1);
      if (value === null) this.noteDirty(segment, present, 0);
    }
    if (value === null) return;
    this.segments.countRecords(segment, 1);
    const record = this.addRecord(segment, number, time, sequence, value, valueStart, valueEnd, this.generation);
    this.noteDirty(segment, record, keyEnd - keyStart + valueEnd - valueStart);
  }

  freezeRestored(): RecordLayer | null {
    if (!this.restoring) return null;
    this.restoring = false;
    const layer = this.freeze(null);
    if (layer !== null) this.layerCommitted(layer);
    return layer;
  }

  forgetClean(): void {
    // Nobody reads the engine beside the store.
  }

  // ---- the end

  reset(): void {
    this.segments.clear();
    this.active.reset();
    this.frozen.clear();
    this.observed = -1;
    this.activeBytes = 0;
    this.restoring = false;
    this.mustClear = false;
  }

  close(): void {
    this.closed = true;
    this.segments.clear();
    this.active.reset();
    this.frozen.clear();
  }

  private mustBeOpen(): void {
    if (!this.closed) return;
    throw new MillraceError('MILL_STORE_CLOSED', `Store ${this.name} of task ${this.taskId} is closed`, {
      details: { store: this.name, task: this.taskId },
    });
  }
}

function reverseFrom<T>(list: T[], from: number): void {
  for (let low = from, high = list.length - 1; low < high; low++, high--) {
    const kept = list[low] as T;
    list[low] = list[high] as T;
    list[high] = kept;
  }
}
