/**
 * A record batch as it stands in a partition's log: the bytes that readers get, and what the broker reads of its header.
 *
 * The bytes are the log's own copy. Base offset and leader epoch stand before the part that the checksum covers, so assigning them leaves it valid.
 */
import { crc32c } from '../../bytes/crc32c.js';
import { ErrorCodes } from '../../kafka/error-codes.js';
import * as layout from '../../kafka/record-batch/batch-layout.js';
import { RecordBatchBuilder } from '../../kafka/record-batch/record-batch-builder.js';

export interface LogBatch {
  readonly bytes: Buffer;
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly lastSequence: number;
  readonly recordCount: number;
  readonly maxTimestamp: number;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
}

/** CORRUPT_MESSAGE; INVALID_RECORD: a Produce request holds exactly one batch a partition. */
export const CORRUPT = ErrorCodes.CORRUPT_MESSAGE;
export const INVALID_RECORD = 87;

/** Copies what a client sent, or says which error code it deserves. */
export function readProduced(records: readonly Uint8Array[]): LogBatch | number {
  const bytes = Buffer.concat(records);
  if (bytes.length < layout.BATCH_HEADER_BYTES) return CORRUPT;
  if (bytes[layout.MAGIC_AT] !== 2) return INVALID_RECORD;
  const size = bytes.readInt32BE(layout.BATCH_LENGTH_AT) + layout.BATCH_LENGTH_OVERHEAD;
  if (size < layout.BATCH_HEADER_BYTES || size > bytes.length) return CORRUPT;
  if (size < bytes.length) return INVALID_RECORD;
  if (crc32c(bytes, layout.ATTRIBUTES_AT) !== bytes.readUInt32BE(layout.CRC_AT)) return CORRUPT;
  const batch = describe(bytes);
  return batch.isControl || batch.recordCount < 1 ? INVALID_RECORD : batch;
}

/** The fields of the batch that fills `bytes`. */
export function describe(bytes: Buffer): LogBatch {
  const attributes = bytes.readInt16BE(layout.ATTRIBUTES_AT);
  const baseOffset = layout.readInt64(bytes, layout.BASE_OFFSET_AT);
  const delta = bytes.readInt32BE(layout.LAST_OFFSET_DELTA_AT);
  const baseSequence = bytes.readInt32BE(layout.BASE_SEQUENCE_AT);
  return {
    bytes,
    baseOffset,
    lastOffset: baseOffset + delta,
    producerId: bytes.readBigInt64BE(layout.PRODUCER_ID_AT),
    producerEpoch: bytes.readInt16BE(layout.PRODUCER_EPOCH_AT),
    baseSequence,
    // Sequences go on with 0 after 2^31 − 1.
    lastSequence: baseSequence < 0 ? -1 : (baseSequence + delta) % 0x8000_0000,
    recordCount: bytes.readInt32BE(layout.RECORD_COUNT_AT),
    maxTimestamp: layout.readInt64(bytes, layout.MAX_TIMESTAMP_AT),
    isTransactional: (attributes & layout.TRANSACTIONAL_BIT) !== 0,
    isControl: (attributes & layout.CONTROL_BIT) !== 0,
  };
}

/** The batch at its place in the log. */
export function placed(batch: LogBatch, baseOffset: number): LogBatch {
  layout.writeInt64(batch.bytes, baseOffset, layout.BASE_OFFSET_AT);
  batch.bytes.writeInt32BE(0, layout.LEADER_EPOCH_AT);
  return describe(batch.bytes);
}

/** Stamps the batch as topics with LogAppendTime do. */
export function stamped(batch: LogBatch, timestamp: number): LogBatch {
  const { bytes } = batch;
  bytes.writeInt16BE(bytes.readInt16BE(layout.ATTRIBUTES_AT) | layout.LOG_APPEND_TIME_BIT, layout.ATTRIBUTES_AT);
  layout.writeInt64(bytes, timestamp, layout.MAX_TIMESTAMP_AT);
  seal(bytes);
  return describe(bytes);
}

/** Writes the checksum of a batch whose bytes were changed. */
export function seal(bytes: Buffer): void {
  bytes.writeUInt32BE(crc32c(bytes, layout.ATTRIBUTES_AT), layout.CRC_AT);
}

/** The control batch that ends a transaction. */
export function markerBatch(producerId: bigint, producerEpoch: number, commit: boolean, timestamp: number): LogBatch {
  const bytes = Buffer.from(commit ? commitMarker : abortMarker);
  layout.writeInt64(bytes, timestamp, layout.BASE_TIMESTAMP_AT);
  layout.writeInt64(bytes, timestamp, layout.MAX_TIMESTAMP_AT);
  bytes.writeBigInt64BE(producerId, layout.PRODUCER_ID_AT);
  bytes.writeInt16BE(producerEpoch, layout.PRODUCER_EPOCH_AT);
  seal(bytes);
  return describe(bytes);
}

/** Key: version 0, type 0 abort or 1 commit. Value: version 0, coordinator epoch. */
function emptyMarker(type: 0 | 1): Buffer {
  const builder = new RecordBatchBuilder({ maxBatchBytes: 1024 });
  const key = Buffer.from([0, 0, 0, type]);
  const value = Buffer.alloc(6);
  builder.appendRaw(0, key, 0, key.length, value, 0, value.length, null);
  const taken = builder.take();
  const first = taken?.batches[0];
  if (taken === null || first === undefined) throw new TypeError('a builder with a record has a batch');
  taken.stamp({ producerId: 0n, producerEpoch: 0, transactional: true }, 0);
  const bytes = Buffer.from(first.buffer);
  bytes.writeInt16BE(bytes.readInt16BE(layout.ATTRIBUTES_AT) | layout.CONTROL_BIT, layout.ATTRIBUTES_AT);
  bytes.writeInt32BE(-1, layout.BASE_SEQUENCE_AT);
  return bytes;
}

const abortMarker = emptyMarker(0);
const commitMarker = emptyMarker(1);
