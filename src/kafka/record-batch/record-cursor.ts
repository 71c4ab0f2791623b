/**
 * Reads the records of one fetched partition, lazily: the cursor's fields say where the current record's key and value stand, and
 * nothing is made of them until somebody asks. One cursor is reused for chunk after chunk.
 *
 * Invariants: offsets only grow, from `fetchOffset` on; nothing outside a batch's own bytes is handed out; whatever the bytes are, every call
 * either moves forward, ends or throws MILL_CORRUPT_BATCH. Each batch's checksum is verified once, when the batch is entered. Control batches
 * and, under read_committed, aborted transactions are passed over. Called by the fetcher's record buffers and by restore.
 *
 * The fields are public because the hot loop reads them; only the cursor writes them.
 */
import { crc32c } from '../../bytes/crc32c.js';
import { type Headers, noHeaders } from '../../bytes/headers.js';
import { MillraceError } from '../../errors.js';
import { type Codecs, defaultCodecs } from '../compression/codecs.js';
import { compressionTypes } from '../compression/compression-type.js';
import type { AbortedTransaction, IsolationLevel } from '../port.js';
import { AbortedProducers } from './aborted-producers.js';
import * as layout from './batch-layout.js';
import { controlType } from './control-record.js';
import { readHeaders } from './read-headers.js';

export interface RecordCursorOptions {
  readonly topic: string;
  readonly partition: number;
  /** The offset that was asked for; a batch may start before it. */
  readonly fetchOffset: number;
  readonly isolation: IsolationLevel;
  /** As the fetch response told; read under read_committed only. */
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Default true. */
  readonly verifyChecksums?: boolean;
  /** Most bytes that one batch may decompress to; default 256 MiB. */
  readonly maxDecompressedBytes?: number;
}

const DEFAULT_MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);

export class RecordCursor {
  /** Of the current record. */
  offset = -1;
  /** Of the current record, ms; -1: it has none. */
  timestamp = -1;
  /** Holds the current record's bytes: the fetched chunk, or a batch that was decompressed. */
  buffer: Buffer = NO_BYTES;
  /** -1: the key is null. */
  keyStart = -1;
  keyEnd = -1;
  /** -1: the value is null. */
  valueStart = -1;
  valueEnd = -1;
  /** Where reading goes on: after the current record; at the end also past control batches, aborted data and compacted gaps. */
  nextOffset = 0;

  /** Of the current batch; -1: its producer is not idempotent. */
  producerId = -1n;
  producerEpoch = -1;
  baseSequence = -1;
  isTransactional = false;

  private topic = '';
  private partition = -1;
  private fetchOffset = 0;
  private readCommitted = false;
  private verifyChecksums = true;
  private maxDecompressedBytes = DEFAULT_MAX_DECOMPRESSED_BYTES;
  private readonly aborted = new AbortedProducers();

  /** The fetched chunk, and where its next batch starts. */
  private chunk: Buffer = NO_BYTES;
  private batchAt = 0;

  /** The current batch: what is left of its records in `buffer[at, end)`. */
  private at = 0;
  private end = 0;
  private recordsLeft = 0;
  private baseOffset = 0;
  private lastOffset = -1;
  private baseTimestamp = 0;
  /** ≥ 0 when the broker stamped the batch (LogAppendTime). */
  private appendTime = -1;
  private headersAt = 0;
  private recordEnd = 0;

  constructor(private readonly codecs: Codecs = defaultCodecs) {}

  /** Starts on a fetched partition's bytes. */
  open(records: Buffer, options: RecordCursorOptions): void {
    this.topic = options.topic;
    this.partition = options.partition;
    this.fetchOffset = options.fetchOffset;
    this.nextOffset = options.fetchOffset;
    this.readCommitted = options.isolation === 'read_committed';
    this.verifyChecksums = options.verifyChecksums ?? true;
    this.maxDecompressedBytes = options.maxDecompressedBytes ?? DEFAULT_MAX_DECOMPRESSED_BYTES;
    this.aborted.reset(options.abortedTransactions);
    this.chunk = records;
    this.batchAt = 0;
    this.forgetBatch();
  }

  /** Lets go of the chunk, so that its memory can be freed. */
  close(): void {
    this.chunk = NO_BYTES;
    this.batchAt = 0;
    this.forgetBatch();
  }

  /**
   * Moves to the next data record at or after `fetchOffset`.
   *
   * @returns false at the end of the chunk; a last batch that was cut by the fetch's size limit is not read
   * @throws MILL_CORRUPT_BATCH, MILL_CODEC_MISSING, naming topic, partition and offset; the cursor is then at its end, and `nextOffset` at the fault
   */
  next(): boolean {
    for (;;) {
      while (this.recordsLeft > 0) if (this.readRecord()) return true;
      if (!this.enterBatch()) return false;
    }
  }

  /** The current record's headers, decoded at each call; their values have memory of their own. */
  headers(): Headers {
    if (this.buffer[this.headersAt] === 0) return noHeaders;
    const headers = readHeaders(this.buffer, this.headersAt, this.recordEnd);
    if (headers === null) throw this.corrupt('a record’s headers are malformed', this.offset);
    return headers;
  }

  /** Reads the record at `at`; false when it stands before `fetchOffset`. */
  private readRecord(): boolean {
    const { buffer, end } = this;
    let at = this.at;

    let byte = buffer[at] as number;
    let size: number;
    if (byte < 0x80 && at < end) {
      size = (byte >>> 1) ^ -(byte & 1);
      at++;
    } else {
      size = this.readVarint(at);
      at = this.at;
    }
    const recordEnd = at + size;
    if (size < 0 || recordEnd > end) throw this.fail('a record reaches beyond its batch', this.nextOffset);

    // Attributes, not used by Kafka so far.
    at++;

    byte = buffer[at] as number;
    let timestampDelta: number;
    if (byte < 0x80) {
      timestampDelta = (byte >>> 1) ^ -(byte & 1);
      at++;
    } else {
      timestampDelta = this.readVarlong(at);
      at = this.at;
    }

    byte = buffer[at] as number;
    let offsetDelta: number;
    if (byte < 0x80) {
      offsetDelta = (byte >>> 1) ^ -(byte & 1);
      at++;
    } else {
      offsetDelta = this.readVarint(at);
      at = this.at;
    }

    const offset = this.baseOffset + offsetDelta;
    if (offset < this.nextOffset) {
      if (offset >= this.fetchOffset || offsetDelta < 0) throw this.fail('its offsets do not increase', this.nextOffset);
      this.at = recordEnd;
      this.recordsLeft--;
      return false;
    }
    if (offset > this.lastOffset) throw this.fail('a record has an offset beyond the batch’s last', this.nextOffset);

    byte = buffer[at] as number;
    let keySize: number;
    if (byte < 0x80) {
      keySize = (byte >>> 1) ^ -(byte & 1);
      at++;
    } else {
      keySize = this.readVarint(at);
      at = this.at;
    }
    if (keySize < 0) {
      this.keyStart = -1;
      this.keyEnd = -1;
    } else {
      this.keyStart = at;
      at += keySize;
      this.keyEnd = at;
    }
    if (at >= recordEnd) throw this.fail('a key reaches beyond its record', offset);

    byte = buffer[at] as number;
    let valueSize: number;
    if (byte < 0x80) {
      valueSize = (byte >>> 1) ^ -(byte & 1);
      at++;
    } else {
      valueSize = this.readVarint(at);
      at = this.at;
    }
    if (valueSize < 0) {
      this.valueStart = -1;
      this.valueEnd = -1;
    } else {
      this.valueStart = at;
      at += valueSize;
      this.valueEnd = at;
    }
    // At least the number of headers follows, and nothing else when that is none.
    if (at >= recordEnd || (buffer[at] === 0 && at + 1 !== recordEnd))
      throw this.fail('a record’s parts do not add up to its size', offset);

    this.headersAt = at;
    this.recordEnd = recordEnd;
    this.at = recordEnd;
    this.offset = offset;
    this.nextOffset = offset + 1;
    this.timestamp = this.appendTime >= 0 ? this.appendTime : this.baseTimestamp + timestampDelta;
    this.recordsLeft--;
    return true;
  }

  /** Leaves the current batch and opens the next one that holds records to hand out; false at the end of the chunk. */
  private enterBatch(): boolean {
    if (this.at !== this.end) throw this.fail('bytes follow its last record', this.nextOffset);
    if (this.lastOffset >= this.nextOffset) this.nextOffset = this.lastOffset + 1;
    this.forgetBatch();
    const { chunk } = this;
    for (;;) {
      const start = this.batchAt;
      if (chunk.length - start < layout.HEADER_BYTES_UP_TO_MAGIC) return false;
      const magic = chunk[start + layout.MAGIC_AT] as number;
      if (magic !== 2) throw this.fail(wrongMagic(magic), this.nextOffset);
      const size = chunk.readInt32BE(start + layout.BATCH_LENGTH_AT) + layout.BATCH_LENGTH_OVERHEAD;
      if (size < layout.BATCH_HEADER_BYTES) throw this.fail('its length is too small', this.nextOffset);
      if (size > chunk.length - start) return false;
      this.batchAt = start + size;
      if (this.openBatch(start, start + size)) return true;
    }
  }

  /** Opens the whole batch in `chunk[start, batchEnd)`; false when there is nothing in it to hand out. */
  private openBatch(start: number, batchEnd: number): boolean {
    const { chunk } = this;
    const baseOffset = layout.readInt64(chunk, start + layout.BASE_OFFSET_AT);
    if (this.verifyChecksums && crc32c(chunk, start + layout.ATTRIBUTES_AT, batchEnd) !== chunk.readUInt32BE(start + layout.CRC_AT)) {
      throw this.fail('its checksum is wrong', this.nextOffset);
    }
    const lastOffsetDelta = chunk.readInt32BE(start + layout.LAST_OFFSET_DELTA_AT);
    const lastOffset = baseOffset + lastOffsetDelta;
    if (baseOffset < 0 || lastOffsetDelta < 0 || !Number.isSafeInteger(lastOffset))
      throw this.fail('its offsets are out of range', this.nextOffset);
    if (lastOffset < this.fetchOffset) return false;
    if (baseOffset < this.nextOffset && this.nextOffset > this.fetchOffset) throw this.fail('its offsets do not increase', this.nextOffset);

    const attributes = chunk.readInt16BE(start + layout.ATTRIBUTES_AT);
    this.producerId = chunk.readBigInt64BE(start + layout.PRODUCER_ID_AT);
    this.producerEpoch = chunk.readInt16BE(start + layout.PRODUCER_EPOCH_AT);
    this.baseSequence = chunk.readInt32BE(start + layout.BASE_SEQUENCE_AT);
    this.isTransactional = (attributes & layout.TRANSACTIONAL_BIT) !== 0;
    const maxTimestamp = layout.readInt64(chunk, start + layout.MAX_TIMESTAMP_AT);
    this.appendTime = (attributes & layout.LOG_APPEND_TIME_BIT) === 0 ? -1 : maxTimestamp;
    this.baseTimestamp = layout.readInt64(chunk, start + layout.BASE_TIMESTAMP_AT);
    this.baseOffset = baseOffset;

    const isControl = (attributes & layout.CONTROL_BIT) !== 0;
    if (isControl || this.isAborted(lastOffset)) {
      if (isControl) this.passControlBatch(start, batchEnd, lastOffset);
      this.nextOffset = lastOffset + 1;
      return false;
    }
    this.openRecords(start, batchEnd, attributes & layout.COMPRESSION_MASK);
    this.lastOffset = lastOffset;
    return true;
  }

  private isAborted(lastOffset: number): boolean {
    if (!this.readCommitted || !this.isTransactional) return false;
    this.aborted.advanceTo(lastOffset);
    return this.aborted.has(this.producerId);
  }

  /** An abort marker ends its producer's aborted range. */
  private passControlBatch(start: number, batchEnd: number, lastOffset: number): void {
    if (!this.readCommitted) return;
    this.aborted.advanceTo(lastOffset);
    if (this.chunk.readInt32BE(start + layout.RECORD_COUNT_AT) === 0) return;
    // The marker is read as any record is, from a position that lets it through.
    const { nextOffset } = this;
    this.openRecords(start, batchEnd, 0);
    this.lastOffset = lastOffset;
    while (this.recordsLeft > 0) if (this.readRecord()) break;
    if (controlType(this.buffer, this.keyStart, this.keyEnd) === 'abort') this.aborted.endOf(this.producerId);
    this.nextOffset = nextOffset;
    this.forgetBatch();
  }

  private openRecords(start: number, batchEnd: number, compression: number): void {
    const count = this.chunk.readInt32BE(start + layout.RECORD_COUNT_AT);
    const recordsStart = start + layout.BATCH_HEADER_BYTES;
    if (compression === 0) {
      this.buffer = this.chunk;
      this.at = recordsStart;
      this.end = batchEnd;
    } else {
      this.buffer = this.decompress(compression, recordsStart, batchEnd);
      this.at = 0;
      this.end = this.buffer.length;
    }
    if (count < 0 || count > (this.end - this.at) / layout.MIN_RECORD_BYTES)
      throw this.fail('its number of records is wrong', this.nextOffset);
    this.recordsLeft = count;
  }

  private decompress(compression: number, start: number, end: number): Buffer {
    const type = compressionTypes[compression];
    if (type === undefined || type === 'none') throw this.fail(`its compression ${compression} is not known`, this.nextOffset);
    try {
      return this.codecs.get(type).decompress(this.chunk.subarray(start, end), this.maxDecompressedBytes);
    } catch (cause) {
      if (cause instanceof MillraceError && cause.code === 'MILL_CODEC_MISSING') {
        const { details } = cause;
        this.stop();
        throw new MillraceError(
          'MILL_CODEC_MISSING',
          `${this.place(this.nextOffset)} is in a record batch compressed with ${type}, and the package ${String(details.package)} can't be loaded.`,
          { cause, details: { ...details, topic: this.topic, partition: this.partition, offset: this.nextOffset } },
        );
      }
      throw this.fail(`its ${type} data can't be decompressed`, this.nextOffset, cause);
    }
  }

  /** A 32-bit zigzag varint at `from`; leaves `at` after it. */
  private readVarint(from: number): number {
    const { buffer, end } = this;
    let value = 0;
    for (let at = from, shift = 0; at < end && shift < 35; shift += 7) {
      const byte = buffer[at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw this.fail('a number in it is malformed', this.nextOffset);
  }

  /** A 64-bit zigzag varint at `from`, as a number; leaves `at` after it. */
  private readVarlong(from: number): number {
    const { buffer, end } = this;
    let low = 0;
    for (let at = from, shift = 0; at < end && shift < 28; shift += 7) {
      const byte = buffer[at++] as number;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return (low >>> 1) ^ -(low & 1);
      }
    }
    return this.readLongVarlong(from);
  }

  private readLongVarlong(from: number): number {
    const { buffer, end } = this;
    let value = 0n;
    for (let at = from, shift = 0n; at < end && shift < 70n; shift += 7n) {
      const byte = buffer[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.at = at;
        return Number(BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)));
      }
    }
    throw this.fail('a number in it is malformed', this.nextOffset);
  }

  private forgetBatch(): void {
    this.at = 0;
    this.end = 0;
    this.recordsLeft = 0;
    this.lastOffset = -1;
  }

  /** Nothing more is read of this chunk. */
  private stop(): void {
    this.batchAt = this.chunk.length;
    this.forgetBatch();
  }

  private fail(what: string, offset: number, cause?: unknown): MillraceError {
    this.stop();
    return this.corrupt(what, offset, cause);
  }

  private corrupt(what: string, offset: number, cause?: unknown): MillraceError {
    return new MillraceError('MILL_CORRUPT_BATCH', `${this.place(offset)} is in a record batch that can't be read: ${what}.`, {
      cause,
      details: { topic: this.topic, partition: this.partition, offset },
    });
  }

  private place(offset: number): string {
    return `Offset ${offset} of ${this.topic}-${this.partition}`;
  }
}

function wrongMagic(magic: number): string {
  if (magic > 2) return `its format version ${magic} is not known`;
  return `it has message format v${magic}, as clients before Kafka 0.11 wrote it, and only v2 is supported (copy the topic with a newer client)`;
}
