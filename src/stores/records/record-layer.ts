import type { EngineBatch } from '../engine/engine.js';
import type { EpochLayer } from '../epoch-state.js';
import type { StoreMarks } from '../store-marks.js';
import type { RecordSegment } from './record-segment.js';

/** Puts the records that a key has as of the layer into the batch. */
export type PutKey = (batch: EngineBatch, segment: RecordSegment, key: number, layer: RecordLayer) => void;

/** The records that one epoch put into a store, in order: by their own numbers while the epoch is active, by their keys' once it is frozen. */
export class RecordLayer implements EpochLayer {
  readonly segments: RecordSegment[] = [];
  /** Of records, then of keys, in the segments of the same index. */
  readonly numbers: number[] = [];
  /** Segments that the epoch pins, and the bytes that it put into each. */
  readonly pinned: RecordSegment[] = [];
  readonly pinnedBytes: number[] = [];
  byteLength = 0;
  /** The store's generation that put them. */
  generation = 0;
  marks: StoreMarks = { observed: -1, observedTime: -1, closedUpTo: -1, entries: 0 };

  constructor(private readonly putKey: PutKey) {}

  get rowCount(): number {
    return this.segments.length;
  }

  add(segment: RecordSegment, record: number): void {
    this.segments.push(segment);
    this.numbers.push(record);
  }

  putRows(batch: EngineBatch, from: number, to: number, mark: number): void {
    for (let i = from; i < to; i++) {
      const segment = this.segments[i] as RecordSegment;
      const key = this.numbers[i] as number;
      if (!segment.dropped && segment.memory.mark(key, mark)) this.putKey(batch, segment, key, this);
    }
  }

  writeAll(batch: EngineBatch): void {
    // The marks of engine writes are positive.
    this.putRows(batch, 0, this.rowCount, -this.generation);
  }

  reset(): void {
    this.segments.length = 0;
    this.numbers.length = 0;
    this.pinned.length = 0;
    this.pinnedBytes.length = 0;
    this.byteLength = 0;
  }
}
