/**
 * What one epoch changed in one store, serialised: rows in order of first write, and their bytes in one buffer.
 *
 * Bytes of a row, one after the other: engine prefix, key, changelog suffix, [timestamp], value. The engine's key is the first two, the changelog's the
 * second and third. The buffer is reused by a later epoch once the engine has the rows.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import type { EngineBatch } from './engine/engine.js';
import type { EpochLayer } from './epoch-state.js';
import type { Row } from './row.js';
import type { StoreMarks } from './store-marks.js';

const fieldsPerRow = 4;

export class FrozenLayer<K, V> implements EpochLayer {
  /** null: out of retention since. */
  rows: (Row<K, V> | null)[] = [];
  /** The store's generation that wrote them. */
  generation = 0;
  readonly bytes = new ByteWriter(4096);
  /** State of the store beside its rows as of this epoch. */
  marks: StoreMarks = { observed: -1, observedTime: -1, closedUpTo: -1, entries: 0 };
  private spans = new Int32Array(fieldsPerRow * 256);
  private count = 0;

  /** Notes where the bytes of the next row are; `valueStart` is -1 for a deleted row. */
  add(start: number, keyEnd: number, valueStart: number, end: number): void {
    const at = this.count++ * fieldsPerRow;
    if (at === this.spans.length) {
      const larger = new Int32Array(this.spans.length * 2);
      larger.set(this.spans);
      this.spans = larger;
    }
    this.spans[at] = start;
    this.spans[at + 1] = keyEnd;
    this.spans[at + 2] = valueStart;
    this.spans[at + 3] = end;
  }

  get byteLength(): number {
    return this.bytes.length;
  }

  get rowCount(): number {
    return this.rows.length;
  }

  putRows(batch: EngineBatch, from: number, to: number, mark: number): void {
    for (let i = from; i < to; i++) {
      const row = this.rows[i];
      if (row === undefined || row === null || row.flushMark === mark) continue;
      row.flushMark = mark;
      this.writeRow(i, batch);
    }
  }

  private writeRow(index: number, batch: EngineBatch): void {
    const at = index * fieldsPerRow;
    const { buffer } = this.bytes;
    const key = buffer.subarray(this.spans[at], this.spans[at + 1]);
    const valueStart = this.spans[at + 2] as number;
    if (valueStart < 0) batch.delete(key);
    else batch.put(key, buffer.subarray(valueStart, this.spans[at + 3]));
  }

  writeAll(batch: EngineBatch): void {
    for (let i = 0; i < this.rows.length; i++) this.writeRow(i, batch);
  }

  forgetExpired(): void {
    const { rows } = this;
    for (let i = 0; i < rows.length; i++) if (rows[i]?.table.expired === true) rows[i] = null;
  }

  reset(): void {
    this.rows = [];
    this.bytes.reset();
    this.count = 0;
  }
}
