/**
 * Tells rows that changed from rows that were only written again, by the bytes of their values (`emitOnChange`).
 *
 * Invariant: between drains a row whose value is an object has the bytes of that value as of the last drain in `captured`. The object itself can't be relied on:
 * a user's aggregator may change it in place, and other stores of the task may hold the same one.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import type { CompiledSerde } from '../serdes/serde.js';

/** A row of a store, or an entry of one that holds lists. */
export interface ComparedRow {
  readonly value: unknown;
  captured: Buffer | null;
}

export class ChangeComparison {
  private readonly now = new ByteWriter(256);
  private readonly then = new ByteWriter(256);

  constructor(private readonly valueSerde: CompiledSerde<unknown>) {}

  /** @param before the value at the last drain: objects as bytes, anything else as it was */
  isUnchanged(row: ComparedRow, before: unknown): boolean {
    const { value } = row;
    if (value === null || value === before) return value === before;
    this.now.reset();
    this.valueSerde.encode(value, this.now);
    const same = before !== null && this.now.view().equals(this.bytesOf(before));
    if (typeof value === 'object') row.captured = this.now.copy();
    return same;
  }

  private bytesOf(before: unknown): Buffer {
    if (Buffer.isBuffer(before)) return before;
    this.then.reset();
    this.valueSerde.encode(before, this.then);
    return this.then.view();
  }
}
