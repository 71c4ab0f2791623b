import type { RecordMemory } from './record-memory.js';

/** The records of one segment of time. */
export class RecordSegment {
  /** False while every key that has records in this segment is in memory: then a key that is not there has none. */
  mayMiss: boolean;
  /** The engine has rows of this segment. */
  inEngine: boolean;
  /** It is out of retention and was let go of: nothing of it is written any more. */
  dropped = false;
  /** Epochs with records here that the engine does not have yet. */
  pins = 0;
  /** The store's generation that put a record here last, and the bytes that it put. */
  stamp = 0;
  activeBytes = 0;
  /** Bytes of the records that the engine does not have yet. */
  dirtyBytes = 0;
  /** Size after what the engine has was last let go of. */
  smallest = 0;
  /** Records, in memory or not; estimated when the segment was found in the engine. */
  records = 0;
  /** Size as the cache budget knows it, bytes. */
  counted = 0;

  /** @param prefix what stands before a key in the engine @param fromEngine the segment was found there */
  constructor(
    public memory: RecordMemory,
    readonly start: number,
    readonly prefix: Buffer,
    fromEngine: boolean,
  ) {
    this.mayMiss = fromEngine;
    this.inEngine = fromEngine;
  }

  /** Index of the first of `segments`, which ascend by start, that starts at or after `start`. */
  static indexFrom(segments: readonly RecordSegment[], start: number): number {
    let low = 0;
    let high = segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((segments[middle] as RecordSegment).start < start) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
