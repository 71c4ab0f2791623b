/**
 * Where the whole record batches of a fetch end, and which offset comes after them, read from the batches' headers alone.
 *
 * It is what lets the next fetch go out before a record of this one is decoded. Brokers cut the last batch at the byte limit.
 */
import {
  BASE_OFFSET_AT,
  BATCH_LENGTH_AT,
  BATCH_LENGTH_OVERHEAD,
  HEADER_BYTES_UP_TO_MAGIC,
  LAST_OFFSET_DELTA_AT,
  MAGIC_AT,
  readInt64,
} from '../record-batch/batch-layout.js';

export interface WholeBatches {
  /** Bytes of whole batches. */
  readonly length: number;
  /** Offset after the last whole batch; the given one when there is none. */
  readonly nextOffset: number;
  /** Bytes that the cut batch behind them has in full; 0 when none is cut, or not even its length is there. */
  readonly cutBatchBytes: number;
  /** The batch behind them has a length that no batch can have. */
  readonly malformed: boolean;
}

export function wholeBatches(records: Buffer, fetchOffset: number): WholeBatches {
  let at = 0;
  let nextOffset = fetchOffset;
  while (at + HEADER_BYTES_UP_TO_MAGIC <= records.length) {
    const size = BATCH_LENGTH_OVERHEAD + records.readInt32BE(at + BATCH_LENGTH_AT);
    if (size < HEADER_BYTES_UP_TO_MAGIC) return { length: at, nextOffset, cutBatchBytes: 0, malformed: true };
    if (at + size > records.length) return { length: at, nextOffset, cutBatchBytes: size, malformed: false };
    const baseOffset = readInt64(records, at + BASE_OFFSET_AT);
    // Formats before v2 put the last record's offset there, and have no delta.
    const delta = (records[at + MAGIC_AT] ?? 0) >= 2 ? records.readInt32BE(at + LAST_OFFSET_DELTA_AT) : 0;
    nextOffset = Math.max(nextOffset, baseOffset + delta + 1);
    at += size;
  }
  return { length: at, nextOffset, cutBatchBytes: 0, malformed: false };
}
