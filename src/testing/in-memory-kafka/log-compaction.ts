/**
 * Log compaction, carried out when a test asks for it: of each key the last committed record stays, with its offset; aborted records go.
 *
 * A record's deltas are relative to its batch, so the bytes of the records that stay are copied as they are. Compressed batches are left alone.
 */
import * as layout from '../../kafka/record-batch/batch-layout.js';
import { describe, seal, type LogBatch } from './log-batch.js';
import type { CompletedTransaction } from './producer-states.js';

interface RecordSpan {
  readonly offset: number;
  readonly start: number;
  readonly end: number;
  /** null: the record has no key, and compaction keeps it. */
  readonly key: string | null;
  readonly isTombstone: boolean;
}

export function compacted(
  batches: readonly LogBatch[],
  aborted: readonly CompletedTransaction[],
  below: number,
  dropTombstones: boolean,
): LogBatch[] {
  const isAborted = (batch: LogBatch): boolean =>
    batch.isTransactional &&
    aborted.some(
      ({ producerId, firstOffset, lastOffset }) =>
        producerId === batch.producerId && firstOffset <= batch.baseOffset && batch.lastOffset <= lastOffset,
    );
  const cleanable = (batch: LogBatch): boolean => batch.lastOffset < below && !batch.isControl && !isCompressed(batch);
  const last = new Map<string, number>();
  for (const batch of batches) {
    if (batch.isControl || isCompressed(batch) || batch.baseOffset >= below || isAborted(batch)) continue;
    for (const { key, offset } of spansOf(batch)) if (key !== null) last.set(key, offset);
  }
  const left: LogBatch[] = [];
  for (const batch of batches) {
    if (!cleanable(batch)) left.push(batch);
    else if (!isAborted(batch)) {
      const spans = spansOf(batch);
      const kept = spans.filter(
        ({ key, offset, isTombstone }) => key === null || (last.get(key) === offset && !(isTombstone && dropTombstones)),
      );
      if (kept.length === spans.length) left.push(batch);
      else if (kept.length > 0) left.push(withRecords(batch, kept));
    }
  }
  return left;
}

function isCompressed({ bytes }: LogBatch): boolean {
  return (bytes.readInt16BE(layout.ATTRIBUTES_AT) & layout.COMPRESSION_MASK) !== 0;
}

function withRecords(batch: LogBatch, records: readonly RecordSpan[]): LogBatch {
  const bytes = Buffer.concat([
    batch.bytes.subarray(0, layout.BATCH_HEADER_BYTES),
    ...records.map(({ start, end }) => batch.bytes.subarray(start, end)),
  ]);
  bytes.writeInt32BE(bytes.length - layout.BATCH_LENGTH_OVERHEAD, layout.BATCH_LENGTH_AT);
  bytes.writeInt32BE(records.length, layout.RECORD_COUNT_AT);
  seal(bytes);
  return describe(bytes);
}

function spansOf({ bytes, baseOffset, recordCount }: LogBatch): RecordSpan[] {
  const spans: RecordSpan[] = [];
  let at = layout.BATCH_HEADER_BYTES;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n)));
    }
  };
  for (let i = 0; i < recordCount; i++) {
    const start = at;
    const size = varint();
    const end = at + size;
    at++;
    varint();
    const offset = baseOffset + varint();
    const keySize = varint();
    const key = keySize < 0 ? null : bytes.toString('latin1', at, at + keySize);
    if (keySize > 0) at += keySize;
    spans.push({ offset, start, end, key, isTombstone: varint() < 0 });
    at = end;
  }
  return spans;
}
