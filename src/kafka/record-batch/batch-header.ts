/**
 * Writes the header of a finished batch, all but the producer's identity and the checksum (encoded-batches.ts fills those in),
 * and compresses the records after it.
 */
import type { CompressionCodec } from '../compression/codec.js';
import { type CompressionType, compressionId } from '../compression/compression-type.js';
import * as layout from './batch-layout.js';

/** Writes the header of the uncompressed batch in `buffer[0, length)`. */
export function writeBatchHeader(buffer: Buffer, length: number, recordCount: number, baseTimestamp: number, maxTimestamp: number): void {
  buffer.fill(0, 0, layout.BATCH_HEADER_BYTES);
  buffer.writeInt32BE(length - layout.BATCH_LENGTH_OVERHEAD, layout.BATCH_LENGTH_AT);
  buffer.writeInt32BE(-1, layout.LEADER_EPOCH_AT);
  buffer[layout.MAGIC_AT] = 2;
  buffer.writeInt32BE(recordCount - 1, layout.LAST_OFFSET_DELTA_AT);
  layout.writeInt64(buffer, baseTimestamp, layout.BASE_TIMESTAMP_AT);
  layout.writeInt64(buffer, maxTimestamp, layout.MAX_TIMESTAMP_AT);
  buffer.writeInt32BE(recordCount, layout.RECORD_COUNT_AT);
}

/** A compressed copy of the finished batch in `buffer[0, length)`, or null when compression does not make it shorter. */
export function compressBatch(buffer: Buffer, length: number, codec: CompressionCodec, type: CompressionType): Buffer | null {
  const records = codec.compress(buffer.subarray(layout.BATCH_HEADER_BYTES, length));
  const size = layout.BATCH_HEADER_BYTES + records.length;
  if (size >= length) return null;
  const batch = Buffer.allocUnsafeSlow(size);
  buffer.copy(batch, 0, 0, layout.BATCH_HEADER_BYTES);
  records.copy(batch, layout.BATCH_HEADER_BYTES);
  batch.writeInt32BE(size - layout.BATCH_LENGTH_OVERHEAD, layout.BATCH_LENGTH_AT);
  batch.writeInt16BE(batch.readInt16BE(layout.ATTRIBUTES_AT) | compressionId(type), layout.ATTRIBUTES_AT);
  return batch;
}
