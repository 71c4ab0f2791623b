/** Records in, batches out, records back: what the tests of this folder share. */
import type { Headers } from '../../../src/bytes/headers.js';
import { crc32c } from '../../../src/bytes/crc32c.js';
import type { CompressionType } from '../../../src/kafka/compression/compression-type.js';
import type { BatchIdentity, EncodedBatches } from '../../../src/kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../../src/kafka/record-batch/record-batch-builder.js';
import { RecordCursor, type RecordCursorOptions } from '../../../src/kafka/record-batch/record-cursor.js';

export interface PlainRecord {
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
}

export interface ReadRecord extends PlainRecord {
  readonly offset: number;
}

export function record(value: string | null, fields: Partial<PlainRecord> = {}): PlainRecord {
  return { timestamp: 1_000, key: null, value: value === null ? null : Buffer.from(value), headers: [], ...fields };
}

export function appendTo(builder: RecordBatchBuilder, { timestamp, key, value, headers }: PlainRecord): number {
  return builder.appendRaw(timestamp, key, 0, key?.length ?? 0, value, 0, value?.length ?? 0, headers);
}

export interface BatchOptions {
  readonly baseOffset?: number;
  readonly maxBatchBytes?: number;
  readonly compression?: CompressionType;
  readonly identity?: BatchIdentity | null;
}

/** The records as batches that lie in a log from `baseOffset` on. */
export function encode(records: readonly PlainRecord[], options: BatchOptions = {}): Buffer {
  const builder = new RecordBatchBuilder({ maxBatchBytes: options.maxBatchBytes ?? 1_000_000, compression: options.compression });
  for (const each of records) appendTo(builder, each);
  const batches = builder.take();
  if (batches === null) return Buffer.alloc(0);
  batches.stamp(options.identity ?? null, 0);
  return inLog(batches, options.baseOffset ?? 0);
}

/** As the broker stores batches: offsets assigned, which the checksum does not cover. */
export function inLog(batches: EncodedBatches, baseOffset: number): Buffer {
  let offset = baseOffset;
  return Buffer.concat(
    batches.batches.map(({ buffer, recordCount }) => {
      const stored = Buffer.from(buffer);
      stored.writeBigInt64BE(BigInt(offset), 0);
      offset += recordCount;
      return stored;
    }),
  );
}

/** The marker that the broker writes at the end of a transaction. */
export function marker(type: 'commit' | 'abort', producerId: bigint, baseOffset: number): Buffer {
  const key = Buffer.from([0, 0, 0, type === 'commit' ? 1 : 0]);
  const batch = encode([record('\0\0\0\0\0\0', { key })], { baseOffset, identity: { producerId, producerEpoch: 0, transactional: true } });
  return edited(batch, (bytes) => bytes.writeInt16BE(bytes.readInt16BE(21) | 0x20, 21));
}

/** A batch with some of its header changed and the checksum made right again. */
export function edited(batch: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(batch);
  change(copy);
  copy.writeUInt32BE(crc32c(copy, 21), 17);
  return copy;
}

export function openCursor(bytes: Buffer, options: Partial<RecordCursorOptions> = {}, cursor = new RecordCursor()): RecordCursor {
  cursor.open(bytes, { topic: 'orders', partition: 3, fetchOffset: 0, isolation: 'read_committed', abortedTransactions: [], ...options });
  return cursor;
}

/** All that is left under the cursor, copied out. */
export function readAll(cursor: RecordCursor): ReadRecord[] {
  const records: ReadRecord[] = [];
  while (cursor.next()) {
    records.push({
      offset: cursor.offset,
      timestamp: cursor.timestamp,
      key: cursor.keyStart < 0 ? null : Buffer.from(cursor.buffer.subarray(cursor.keyStart, cursor.keyEnd)),
      value: cursor.valueStart < 0 ? null : Buffer.from(cursor.buffer.subarray(cursor.valueStart, cursor.valueEnd)),
      headers: cursor.headers(),
    });
  }
  return records;
}

export function valuesOf(records: readonly ReadRecord[]): (string | null)[] {
  return records.map(({ value }) => value?.toString() ?? null);
}

export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
