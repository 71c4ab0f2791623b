/**
 * Where the fields of a record batch (message format v2, KIP-98) stand, relative to the batch's first byte, and its attribute
 * bits. Shared by the encoder and the decoder so that they can't differ.
 */

/** Bytes of the header before the first record. */
export const BATCH_HEADER_BYTES = 61;
/** Length, attributes, two deltas, two lengths and the number of headers: a byte each at least. */
export const MIN_RECORD_BYTES = 7;
/** Bytes before the part that `batchLength` counts. */
export const BATCH_LENGTH_OVERHEAD = 12;
/** Bytes that hold the magic byte, in every format version. */
export const HEADER_BYTES_UP_TO_MAGIC = 17;

export const BASE_OFFSET_AT = 0;
export const BATCH_LENGTH_AT = 8;
export const LEADER_EPOCH_AT = 12;
export const MAGIC_AT = 16;
export const CRC_AT = 17;
/** The checksum covers everything from here to the end of the batch. */
export const ATTRIBUTES_AT = 21;
export const LAST_OFFSET_DELTA_AT = 23;
export const BASE_TIMESTAMP_AT = 27;
export const MAX_TIMESTAMP_AT = 35;
export const PRODUCER_ID_AT = 43;
export const PRODUCER_EPOCH_AT = 51;
export const BASE_SEQUENCE_AT = 53;
export const RECORD_COUNT_AT = 57;

export const COMPRESSION_MASK = 0x07;
/** The broker stamped the batch: every record has the batch's max timestamp. */
export const LOG_APPEND_TIME_BIT = 0x08;
export const TRANSACTIONAL_BIT = 0x10;
export const CONTROL_BIT = 0x20;

/** A big-endian int64 as a JavaScript number; exact below 2^53. */
export function readInt64(buffer: Buffer, at: number): number {
  return buffer.readInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4);
}

export function writeInt64(buffer: Buffer, value: number, at: number): void {
  const high = Math.floor(value / 0x1_0000_0000);
  buffer.writeInt32BE(high, at);
  buffer.writeUInt32BE(value - high * 0x1_0000_0000, at + 4);
}
