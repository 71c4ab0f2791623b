/**
 * Builds the record batches (message format v2) of one output partition, in place: key, value and headers are written
 * straight into the batch's buffer, so that a record costs no object and no copy but its own bytes.
 *
 * Invariants: what stands in the open batch before a call is untouched by a call that throws; no batch, header
 * included, is longer than `maxBatchBytes`; the first record's deltas in each batch are zero. A record's length
 * precedes it as a varint of one to five bytes: its size is guessed from the record before and the record is moved when the
 * guess was wrong. Sinks and changelogs append; the transactional producer takes, stamps, sends and recycles.
 */
import type { Encoder } from '../../bytes/encoder.js';
import { ByteWriter } from '../../bytes/byte-writer.js';
import { headersFault, type Headers } from '../../bytes/headers.js';
import { MillraceError } from '../../errors.js';
import type { CompressionCodec } from '../compression/codec.js';
import { defaultCodecs } from '../compression/codecs.js';
import type { CompressionType } from '../compression/compression-type.js';
import { compressBatch, writeBatchHeader } from './batch-header.js';
import { BATCH_HEADER_BYTES } from './batch-layout.js';
import { BatchMemory, FIRST_BYTES } from './batch-memory.js';
import { BuiltBatches, type EncodedBatch, type EncodedBatches } from './encoded-batches.js';
import { putVarint, putVarlong, varintSize } from './varint.js';

export interface RecordBatchBuilderOptions {
  /** Most bytes of one record batch, its header included and before compression: at most the topic's `max.message.bytes`. */
  readonly maxBatchBytes: number;
  /** Default: none. Its package is loaded at once, so a missing one shows when the builder is made (MILL_CODEC_MISSING). */
  readonly compression?: CompressionType;
  /** Where buffers come from; default: a pool of the builder's own. */
  readonly memory?: BatchMemory;
}

/** Attributes (1), timestamp delta (10), offset delta (5), the record's, key's and value's lengths (5 each), rounded up. */
const MAX_RECORD_PREFIX = 32;
/** Below this, a loop beats the call that copies. */
const COPY_BY_CALL_FROM = 48;
/** So that the difference of two timestamps is exact. */
const MAX_TIMESTAMP = Number.MAX_SAFE_INTEGER - 1;
const MAX_BATCH_BYTES = 0x3fff_ffff;
/** What a buffer may be longer than a batch before an oversized record's memory is given up. */
const OVERSIZED_SLACK = 64 * 1024;
const NO_BUFFER = Buffer.alloc(0);

export class RecordBatchBuilder {
  private readonly usualBytes: number;
  private readonly maxBatchBytes: number;
  private readonly compression: CompressionType;
  private readonly codec: CompressionCodec | null;
  private readonly memory: BatchMemory;

  private readonly writer: ByteWriter;
  /** Of the buffer for the next batch: as long as the one before needed. */
  private likelyBytes = FIRST_BYTES;
  private batchRecords = 0;
  private baseTimestamp = 0;
  private batchMaxTimestamp = -1;
  private recordLengthBytes = 1;
  private valueLengthBytes = 1;

  private closed: EncodedBatch[] = [];
  private closedMemory: Buffer[] = [];
  private closedRecords = 0;
  private closedBytes = 0;
  private closedMaxTimestamp = -1;

  /** @throws MILL_CONFIG_INVALID, MILL_CODEC_MISSING */
  constructor(options: RecordBatchBuilderOptions) {
    const { maxBatchBytes } = options;
    if (!Number.isInteger(maxBatchBytes) || maxBatchBytes <= BATCH_HEADER_BYTES || maxBatchBytes > MAX_BATCH_BYTES) {
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `maxBatchBytes is ${maxBatchBytes}; it must be an integer from 62 to ${MAX_BATCH_BYTES}.`,
      );
    }
    this.maxBatchBytes = maxBatchBytes;
    this.compression = options.compression ?? 'none';
    this.codec = this.compression === 'none' ? null : defaultCodecs.get(this.compression);
    this.memory = options.memory ?? new BatchMemory(Math.max(4 * maxBatchBytes, 1024 * 1024));
    this.usualBytes = maxBatchBytes + OVERSIZED_SLACK;
    this.writer = new ByteWriter(0, this.usualBytes);
  }

  /** Records buffered, in all batches. */
  get recordCount(): number {
    return this.closedRecords + this.batchRecords;
  }

  /** Bytes buffered, in all batches. */
  get byteLength(): number {
    return this.closedBytes + (this.batchRecords === 0 ? 0 : this.writer.length);
  }

  /**
   * Appends one record; the value is encoded in place. When this throws, the builder is as it was.
   *
   * @param timestamp ms since the epoch, an integer; -1: none
   * @param keyBuffer null: the key is null
   * @param value null: the value is null and the encoder is not asked
   * @returns the record's size in bytes
   * @throws MILL_RECORD_TOO_LARGE when the record alone does not fit; MILL_INVALID_TIMESTAMP; MILL_SERDE for headers that are none; what the encoder throws
   */
  append<V>(
    timestamp: number,
    keyBuffer: Buffer | null,
    keyStart: number,
    keyEnd: number,
    valueEncoder: Encoder<V> | null,
    value: V | null,
    headers: Headers | null,
  ): number {
    if (valueEncoder === null || value === null) return this.appendRaw(timestamp, keyBuffer, keyStart, keyEnd, null, 0, 0, headers);
    const { writer } = this;
    const keySize = keyEnd - keyStart;
    if (keyBuffer !== null && keySize > this.maxBatchBytes) throw this.tooLarge(keySize);
    const start = this.openRecord(timestamp, keyBuffer === null ? 0 : keySize);
    const keyAt = this.putDeltas(start + this.recordLengthBytes, timestamp);
    const valueLengthAt = putBytes(writer.buffer, keyAt, keyBuffer, keyStart, keyEnd);
    const valueAt = valueLengthAt + this.valueLengthBytes;
    writer.length = valueAt;
    try {
      valueEncoder.encode(value, writer);
    } catch (error) {
      this.undo(start);
      throw error;
    }
    const valueSize = writer.length - valueAt;
    if (valueSize < 0 || valueSize > this.maxBatchBytes) {
      this.undo(start);
      if (valueSize >= 0) throw this.tooLarge(valueSize);
      throw new MillraceError('MILL_SERDE', 'The value’s encoder moved the writer backwards; an encoder only appends.');
    }
    const lengthBytes = varintSize(valueSize);
    if (lengthBytes !== this.valueLengthBytes) {
      this.moveTail(valueAt, lengthBytes - this.valueLengthBytes);
      this.valueLengthBytes = lengthBytes;
    }
    putVarint(writer.buffer, valueLengthAt, valueSize);
    return this.closeRecord(start, keyAt, timestamp, headers);
  }

  /** As `append`, with the value's bytes; `valueBuffer` null: the value is null. */
  appendRaw(
    timestamp: number,
    keyBuffer: Buffer | null,
    keyStart: number,
    keyEnd: number,
    valueBuffer: Buffer | null,
    valueStart: number,
    valueEnd: number,
    headers: Headers | null,
  ): number {
    const { writer } = this;
    const size = (keyBuffer === null ? 0 : keyEnd - keyStart) + (valueBuffer === null ? 0 : valueEnd - valueStart);
    if (size > this.maxBatchBytes) throw this.tooLarge(size);
    const start = this.openRecord(timestamp, size);
    const keyAt = this.putDeltas(start + this.recordLengthBytes, timestamp);
    const { buffer } = writer;
    writer.length = putBytes(buffer, putBytes(buffer, keyAt, keyBuffer, keyStart, keyEnd), valueBuffer, valueStart, valueEnd);
    return this.closeRecord(start, keyAt, timestamp, headers);
  }

  /**
   * Cuts off what was appended so far; the builder starts empty. The batches' memory is theirs until they are given to `recycle`.
   *
   * @returns null when nothing is buffered
   */
  take(): EncodedBatches | null {
    if (this.batchRecords > 0) this.closeBatch();
    if (this.closedRecords === 0) return null;
    const taken = new BuiltBatches(this.closed, this.closedMaxTimestamp, this.closedMemory);
    this.closed = [];
    this.closedMemory = [];
    this.closedRecords = 0;
    this.closedBytes = 0;
    this.closedMaxTimestamp = -1;
    return taken;
  }

  /** Takes the memory of batches back that were acknowledged or given up: nothing may read them any more. */
  recycle(batches: EncodedBatches): void {
    if (!(batches instanceof BuiltBatches)) return;
    for (const buffer of batches.giveUpMemory()) this.memory.release(buffer);
  }

  /** Makes room for a record whose key and value have `size` bytes; returns where it starts. */
  private openRecord(timestamp: number, size: number): number {
    if (timestamp < -1 || timestamp > MAX_TIMESTAMP || !Number.isInteger(timestamp)) {
      throw new MillraceError('MILL_INVALID_TIMESTAMP', `A record can't be written with the timestamp ${timestamp}.`);
    }
    const { writer } = this;
    if (this.batchRecords === 0) this.openBatch(timestamp);
    writer.ensure(size + MAX_RECORD_PREFIX);
    return writer.length;
  }

  private openBatch(timestamp: number): void {
    const { writer } = this;
    if (writer.buffer.length === 0) writer.buffer = this.memory.acquire(this.likelyBytes);
    writer.length = BATCH_HEADER_BYTES;
    this.baseTimestamp = timestamp;
    this.batchMaxTimestamp = timestamp;
  }

  private putDeltas(at: number, timestamp: number): number {
    const { buffer } = this.writer;
    buffer[at] = 0;
    return putVarint(buffer, putVarlong(buffer, at + 1, timestamp - this.baseTimestamp), this.batchRecords);
  }

  /** Writes headers and the record's length, counts the record, and moves it to a batch of its own when this one is full. */
  private closeRecord(start: number, keyAt: number, timestamp: number, headers: Headers | null): number {
    const { writer } = this;
    if (headers === null || headers.length === 0) writer.writeByte(0);
    else this.putHeaders(start, headers);

    const size = writer.length - start - this.recordLengthBytes;
    if (size > this.maxBatchBytes) {
      this.undo(start);
      throw this.tooLarge(size);
    }
    const lengthBytes = varintSize(size);
    const shift = lengthBytes - this.recordLengthBytes;
    if (shift !== 0) {
      this.moveTail(start + this.recordLengthBytes, shift);
      this.recordLengthBytes = lengthBytes;
    }
    putVarint(writer.buffer, start, size);
    if (writer.length > this.maxBatchBytes) return this.moveToNextBatch(start, keyAt + shift, timestamp);
    this.batchRecords++;
    if (timestamp > this.batchMaxTimestamp) this.batchMaxTimestamp = timestamp;
    return lengthBytes + size;
  }

  private putHeaders(start: number, headers: Headers): void {
    const { writer } = this;
    const fault = headersFault(headers);
    if (fault !== null) {
      this.undo(start);
      throw new MillraceError('MILL_SERDE', `A record can’t be written: ${fault}.`);
    }
    try {
      writer.writeVarint(headers.length);
      for (const { key, value } of headers) {
        writer.writeVarint(Buffer.byteLength(key));
        writer.writeUtf8(key);
        if (value === null) writer.writeVarint(-1);
        else {
          writer.writeVarint(value.length);
          writer.writeBytes(value);
        }
      }
    } catch (error) {
      this.undo(start);
      throw error;
    }
  }

  /** The record at `start` overflows its batch: closes that one before it and starts the next with it, deltas now zero. */
  private moveToNextBatch(start: number, keyAt: number, timestamp: number): number {
    const { writer } = this;
    const tailSize = writer.length - keyAt;
    const size = 3 + tailSize;
    const recordBytes = varintSize(size) + size;
    if (BATCH_HEADER_BYTES + recordBytes > this.maxBatchBytes) {
      this.undo(start);
      throw this.tooLarge(recordBytes);
    }
    const full = writer.buffer;
    writer.buffer = this.memory.acquire(full.length);
    writer.length = BATCH_HEADER_BYTES;
    writer.ensure(recordBytes);
    let at = putVarint(writer.buffer, writer.length, size);
    writer.buffer.fill(0, at, at + 3);
    at += 3;
    full.copy(writer.buffer, at, keyAt, keyAt + tailSize);
    this.finishBatch(full, start);
    this.baseTimestamp = timestamp;
    this.batchMaxTimestamp = timestamp;
    this.batchRecords = 1;
    writer.length = at + tailSize;
    return recordBytes;
  }

  private closeBatch(): void {
    const { writer } = this;
    this.finishBatch(writer.buffer, writer.length);
    writer.buffer = NO_BUFFER;
    writer.length = 0;
  }

  /** Writes the header of the batch in `buffer[0, length)` but for its identity, compresses it, and puts it with the closed ones. */
  private finishBatch(buffer: Buffer, length: number): void {
    writeBatchHeader(buffer, length, this.batchRecords, this.baseTimestamp, this.batchMaxTimestamp);
    const compressed = this.codec === null ? null : compressBatch(buffer, length, this.codec, this.compression);
    this.likelyBytes = Math.min(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(length))), this.usualBytes);
    const batch = { buffer: compressed ?? buffer.subarray(0, length), recordCount: this.batchRecords };
    if (compressed === null) this.closedMemory.push(buffer);
    else this.memory.release(buffer);
    this.closed.push(batch);
    const first = this.closedRecords === 0;
    this.closedMaxTimestamp = first ? this.batchMaxTimestamp : Math.max(this.closedMaxTimestamp, this.batchMaxTimestamp);
    this.closedRecords += this.batchRecords;
    this.closedBytes += batch.buffer.length;
    this.batchRecords = 0;
  }

  /** Moves what stands from `from` to the end by `by` bytes. */
  private moveTail(from: number, by: number): void {
    const { writer } = this;
    if (by > 0) writer.ensure(by);
    writer.buffer.copyWithin(from + by, from, writer.length);
    writer.length += by;
  }

  /** Forgets a record that was begun, and the memory that an oversized one may have taken. */
  private undo(start: number): void {
    const { writer } = this;
    writer.length = start;
    if (writer.buffer.length <= 2 * this.maxBatchBytes + OVERSIZED_SLACK) return;
    const smaller = Buffer.allocUnsafeSlow(this.maxBatchBytes + OVERSIZED_SLACK);
    writer.buffer.copy(smaller, 0, 0, start);
    writer.buffer = smaller;
  }

  private tooLarge(size: number): MillraceError {
    return new MillraceError(
      'MILL_RECORD_TOO_LARGE',
      `A record of ${size} bytes does not fit into a record batch of at most ${this.maxBatchBytes} bytes.`,
      { details: { recordBytes: size, maxBatchBytes: this.maxBatchBytes } },
    );
  }
}

/** Writes a length and the bytes, or -1 for null; returns the place after them. */
function putBytes(buffer: Buffer, at: number, source: Buffer | null, start: number, end: number): number {
  if (source === null) {
    buffer[at] = 1;
    return at + 1;
  }
  const size = end - start;
  let to = putVarint(buffer, at, size);
  if (size < COPY_BY_CALL_FROM) for (let from = start; from < end; from++) buffer[to++] = source[from] as number;
  else {
    buffer.set(source.subarray(start, end), to);
    to += size;
  }
  return to;
}
