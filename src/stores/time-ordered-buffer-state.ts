/**
 * The time-ordered buffer. Its rows are those of any store over the engine, so values that are in the engine may leave memory; the order is an index of places in
 * memory, complete at any time. A place is there exactly when its row has a value.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { BufferIndex } from './buffer-index.js';
import type { BufferPlace } from './buffer-index.js';
import { bufferKeySerde, bufferValueSerde, placeBytes, readRank, readTime } from './buffer-serdes.js';
import type { BufferedValue, BufferKey } from './buffer-serdes.js';
import type { EngineBatch } from './engine/engine.js';
import { KeyedState } from './keyed-state.js';
import type { Row } from './row.js';
import type { RowTable } from './row-table.js';
import type { TimeOrderedBuffer } from './store.js';
import { idPrefix } from './store-environment.js';
import type { StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';

type Key<K> = BufferKey<K>;
type Value<V> = BufferedValue<V>;
type More<K> = (time: number, rank: number, key: K) => boolean | 'skip';
type Visit<K, V> = (time: number, rank: number, key: K, value: V) => void | Promise<void>;

const maxRank = 255;
const scanPage = 256;

export class TimeOrderedBufferState<K, V> extends KeyedState<Key<K>, Value<V>> implements TimeOrderedBuffer<K, V> {
  private readonly byKey: boolean;
  private readonly table: RowTable<Key<K>, Value<V>>;
  private readonly index = new BufferIndex<K>();
  private readonly measure = new ByteWriter(256);

  constructor(environment: StoreEnvironment) {
    const byKey = environment.spec.byKey === true;
    super({
      ...environment,
      recordTimestamp: () => environment.recordTimestamp(),
      keySerde: bufferKeySerde(environment.keySerde, byKey),
      valueSerde: bufferValueSerde(environment.valueSerde, byKey),
    });
    this.byKey = byKey;
    this.table = this.makeTable({ prefix: idPrefix(environment.id), suffix: null, windowStart: 0 }, false);
  }

  get size(): number {
    return this.index.size;
  }

  get byteSize(): number {
    return this.index.byteSize;
  }

  override get estimateNumKeys(): number {
    return this.index.size;
  }

  get memoryBytes(): number {
    return this.table.bytes + this.unseenBytes;
  }

  put(time: number, rank: number, key: K, value: V): void {
    this.checkRank(rank);
    const id = { time, rank, key };
    const order = this.hashOf(id);
    const present = this.index.get(order);
    // With `byKey` a row keeps its place in the queue.
    const place = present ?? id;
    const stored = { time: place.time, rank: place.rank, value };
    this.writeRow(this.rowAt(order, id), stored, place.time);
    const size = order.length + this.sizeOf(stored) - placeBytes;
    this.index.set({ time: place.time, rank: place.rank, order, key, size });
  }

  get(time: number, rank: number, key: K): V | null {
    const found = this.at(this.hashOf({ time, rank, key }));
    return found === null ? null : found.value;
  }

  find(key: K): { readonly time: number; readonly value: V } | null {
    if (!this.byKey) {
      throw new MillraceError('MILL_STATE_INVALID', `Store ${this.name} was not built with byKey`, { details: { store: this.name } });
    }
    return this.at(this.hashOf({ time: -1, rank: 0, key }));
  }

  delete(time: number, rank: number, key: K): void {
    this.assertOpen();
    const place = this.index.get(this.hashOf({ time, rank, key }));
    if (place !== undefined) this.take(place);
  }

  firstTime(): number {
    this.assertOpen();
    return this.index.next(null)?.time ?? Infinity;
  }

  drain(more: More<K>, visit: Visit<K, V>): void | Promise<void> {
    this.assertOpen();
    let before: BufferPlace<K> | null = null;
    for (;;) {
      const place = this.nextToDrain(before, more);
      if (place === null) return;
      before = place;
      const done = visit(place.time, place.rank, place.key, this.valueAt(place));
      if (isPromiseLike(done)) return this.drainRest(done, before, more, visit);
      this.take(place);
    }
  }

  private async drainRest(first: Promise<void>, before: BufferPlace<K>, more: More<K>, visit: Visit<K, V>): Promise<void> {
    await first;
    this.take(before);
    for (let place = this.nextToDrain(before, more); place !== null; place = this.nextToDrain(place, more)) {
      await visit(place.time, place.rank, place.key, this.valueAt(place));
      this.take(place);
    }
  }

  /** Nothing before `before` is asked again: it was skipped. */
  private nextToDrain(before: BufferPlace<K> | null, more: More<K>): BufferPlace<K> | null {
    for (let place = this.index.next(before); place !== undefined; place = this.index.next(place)) {
      const answer = more(place.time, place.rank, place.key);
      if (answer === true) return place;
      if (answer === false) break;
    }
    return null;
  }

  private valueAt(place: BufferPlace<K>): V {
    return this.stored(this.rowAt(place.order, place)).value;
  }

  /** A row that its visitor deleted or replaced is not this one any more. */
  private take(place: BufferPlace<K>): void {
    if (this.index.get(place.order) !== place) return;
    this.writeRow(this.rowAt(place.order, place), null, place.time);
    this.index.delete(place.order);
  }

  private at(order: string): { readonly time: number; readonly value: V } | null {
    this.assertOpen();
    const place = this.index.get(order);
    return place === undefined ? null : { time: place.time, value: this.stored(this.rowAt(order, place)).value };
  }

  /** The engine is asked only for rows that the index has. */
  private rowAt(order: string, { time, rank, key }: Key<K>): Row<Key<K>, Value<V>> {
    this.assertOpen();
    const id = { time, rank, key };
    if (this.index.get(order) !== undefined) return this.locateIn(this.table, id, order);
    return this.table.rows.get(order) ?? this.absentRow(this.table, id, order, order.length);
  }

  private stored(row: Row<Key<K>, Value<V>>): Value<V> {
    if (row.value !== null) return row.value;
    throw new MillraceError('MILL_INVARIANT', `Store ${this.name} of task ${this.taskId}: a row of the index is gone`, {
      details: { store: this.name, task: this.taskId },
    });
  }

  private sizeOf(stored: Value<V>): number {
    this.measure.reset();
    this.valueSerde.encode(stored, this.measure);
    return this.measure.length;
  }

  private checkRank(rank: number): void {
    if (Number.isInteger(rank) && rank >= 0 && rank <= maxRank) return;
    throw new MillraceError('MILL_STATE_INVALID', `Store ${this.name}: a rank is a whole number from 0 to ${maxRank}, not ${rank}`, {
      details: { store: this.name },
    });
  }

  // ---- what the task calls

  marks(): StoreMarks {
    return { observed: -1, observedTime: -1, closedUpTo: -1, entries: this.index.size };
  }

  adoptMarks(marks: StoreMarks): void {
    this.counted.total = marks.entries;
  }

  /** Reads the places of all rows. */
  async attach(engineHasRows: boolean): Promise<void> {
    if (!engineHasRows || this.engine === null) return;
    this.table.mayMiss = true;
    const { prefix } = this.table;
    const scan = this.engine.scan({ from: prefix, to: idPrefix(this.id + 1) });
    try {
      for (let page = await scan.next(scanPage); page.length > 0; page = await scan.next(scanPage)) {
        for (const [key, value] of page) this.note(key, prefix.length, key.length, value, 0, value.length);
      }
    } finally {
      await scan.close();
    }
  }

  private note(key: Buffer, keyStart: number, keyEnd: number, value: Buffer, valueStart: number, valueEnd: number): void {
    const id = this.keySerde.decodeSync(key, keyStart, keyEnd) as Key<K>;
    this.index.set({
      time: this.byKey ? readTime(value, valueStart) : id.time,
      rank: this.byKey ? readRank(value, valueStart) : id.rank,
      order: key.toString('latin1', keyStart, keyEnd),
      key: id.key,
      size: keyEnd - keyStart + valueEnd - valueStart - placeBytes,
    });
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
    const place = this.byKey ? value : key;
    const placeStart = this.byKey ? valueStart : keyStart;
    const placeEnd = this.byKey ? valueEnd : keyEnd;
    if (place !== null && placeEnd - placeStart < placeBytes) {
      throw new MillraceError(
        'MILL_SERDE',
        `Store ${this.name}: a changelog record without time and rank is none of a time-ordered buffer`,
        {
          details: { store: this.name, task: this.taskId },
        },
      );
    }
    if (value === null) this.index.delete(key.toString('latin1', keyStart, keyEnd));
    else this.note(key, keyStart, keyEnd, value, valueStart, valueEnd);
    this.restoreInto(this.table, timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd, batch);
    // The index tells.
    this.counted.uncounted = 0;
  }

  expire(): readonly (readonly [Buffer, Buffer])[] {
    return [];
  }

  evict(steps: number): number {
    return this.table.evict(steps);
  }

  reset(): void {
    this.dropRows();
    this.counted.total = 0;
  }

  protected dropRows(): void {
    this.table.drop();
    this.table.mayMiss = false;
    this.index.clear();
  }
}
