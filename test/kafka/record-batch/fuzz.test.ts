import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RecordCursor } from '../../../src/kafka/record-batch/record-cursor.js';
import { edited, encode, marker, openCursor, record } from './batches.js';

const identity = { producerId: 1n, producerEpoch: 0, transactional: true };
const samples = [
  encode([record('a', { key: Buffer.from('k'), headers: [{ key: 'h', value: Buffer.from('v') }] }), record(null), record('x'.repeat(200))]),
  encode(Array.from({ length: 90 }, (_, i) => record(`value ${i}`, { timestamp: 1_700_000_000_000 + i * 1_000 }))),
  encode([record('compressed '.repeat(50))], { compression: 'gzip' }),
  encode([record('compressed '.repeat(50))], { compression: 'snappy' }),
  encode([record('compressed '.repeat(50))], { compression: 'lz4' }),
  encode([record('compressed '.repeat(50))], { compression: 'zstd' }),
  marker('abort', 1n, 0),
];

/** Reads to the end or to an error, checking what the cursor promises whatever the bytes are. */
function readSafely(cursor: RecordCursor, bytes: Buffer): void {
  openCursor(bytes, { fetchOffset: 1, abortedTransactions: [{ producerId: 1n, firstOffset: 0 }], maxDecompressedBytes: 100_000 }, cursor);
  let calls = 0;
  let last = 0;
  try {
    while (cursor.next()) {
      expect(++calls).toBeLessThan(50_000);
      expect(cursor.offset).toBeGreaterThan(last);
      last = cursor.offset;
      expect(cursor.keyStart).toBeLessThanOrEqual(cursor.keyEnd);
      expect(cursor.valueStart).toBeLessThanOrEqual(cursor.valueEnd);
      expect(Math.max(cursor.keyEnd, cursor.valueEnd)).toBeLessThanOrEqual(cursor.buffer.length);
      expect(cursor.timestamp).not.toBeNaN();
      cursor.headers();
    }
  } catch (error) {
    expect(error).toMatchObject({ code: 'MILL_CORRUPT_BATCH', details: { topic: 'orders', partition: 3 } });
  }
  expect(Number.isSafeInteger(cursor.nextOffset)).toBe(true);
}

describe('malformed bytes', () => {
  const cursor = new RecordCursor();
  const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), fc.nat(255)), {
    minLength: 1,
    maxLength: 6,
  });

  it('with a right checksum: an error or an end, never a loop or a read outside', () => {
    fc.assert(
      fc.property(fc.constantFrom(...samples), changes, (sample, edits) => {
        const bytes = edited(sample, (copy) => {
          for (const [place, byte] of edits) copy[Math.floor(place * copy.length)] = byte;
        });
        readSafely(cursor, bytes);
      }),
      { numRuns: 3_000 },
    );
  });

  it('cut, glued and random', () => {
    const piece = fc.oneof(
      fc.constantFrom(...samples),
      fc.tuple(fc.constantFrom(...samples), fc.nat(300)).map(([sample, cut]) => sample.subarray(0, cut)),
      fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => readSafely(cursor, Buffer.concat(pieces))),
      { numRuns: 1_000 },
    );
  });

  it('a claimed length beyond the chunk is a batch that was cut', () => {
    const bytes = encode([record('x')], { identity });
    bytes.writeInt32BE(0x7fff_ffff, 8);
    openCursor(bytes, {}, cursor);
    expect(cursor.next()).toBe(false);
    expect(cursor.nextOffset).toBe(0);
  });
});
