import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import type { Encoder } from '../../../src/bytes/encoder.js';
import type { CompressionType } from '../../../src/kafka/compression/compression-type.js';
import { RecordBatchBuilder } from '../../../src/kafka/record-batch/record-batch-builder.js';
import { type PlainRecord, appendTo, inLog, openCursor, readAll } from './batches.js';

const bytes = (maxLength: number) => fc.option(fc.uint8Array({ maxLength, size: 'max' }).map((array) => Buffer.from(array)));
const headers = fc.array(
  fc.record({ key: fc.oneof(fc.constantFrom('a', 'trace', ''), fc.string({ unit: 'grapheme' })), value: bytes(100) }),
  {
    maxLength: 4,
  },
);
const timestamps = fc.oneof(
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }),
  fc.integer({ min: -1, max: 10 }),
  fc.maxSafeNat().filter((value) => value < Number.MAX_SAFE_INTEGER),
);
const records: fc.Arbitrary<PlainRecord[]> = fc.array(
  fc.record({ timestamp: timestamps, key: bytes(80), value: bytes(300), headers: fc.oneof(fc.constant([]), headers) }),
  { maxLength: 40 },
);
const bufferEncoder: Encoder<Buffer> = { encode: (value, out) => out.writeBytes(value) };

describe('what a builder wrote, a cursor reads', () => {
  it.each<CompressionType>(['none', 'gzip', 'snappy', 'lz4', 'zstd'])('compression %s', (compression) => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 4_000, compression });
    fc.assert(
      fc.property(records, fc.boolean(), (given, inPlace) => {
        let size = 0;
        for (const each of given) {
          const { timestamp, key, value } = each;
          if (inPlace) size += builder.append(timestamp, key, 0, key?.length ?? 0, bufferEncoder, value, each.headers);
          else size += appendTo(builder, each);
        }
        expect(builder.recordCount).toBe(given.length);
        if (compression === 'none' && given.length > 0) expect((builder.byteLength - size) % 61).toBe(0);
        const batches = builder.take();
        expect(builder.recordCount).toBe(0);
        expect(builder.byteLength).toBe(0);
        if (given.length === 0) {
          expect(batches).toBeNull();
          return;
        }
        if (batches === null) throw new Error('no batches');
        batches.stamp(null, 0);
        for (const { buffer } of batches.batches) expect(buffer.length).toBeLessThanOrEqual(4_000);
        expect(batches.maxTimestamp).toBe(Math.max(...given.map(({ timestamp }) => timestamp)));
        expect(batches.byteLength).toBe(batches.batches.reduce((sum, { buffer }) => sum + buffer.length, 0));

        const cursor = openCursor(inLog(batches, 500), { fetchOffset: 500 });
        const expected = given.map((each, i) => ({ ...each, offset: 500 + i }));
        const read = readAll(cursor);
        // Jest's comparison is slow on bytes: it is asked for its message only.
        if (!isDeepStrictEqual(read, expected)) expect(read).toEqual(expected);
        expect(cursor.nextOffset).toBe(500 + given.length);
        builder.recycle(batches);
      }),
      { numRuns: compression === 'none' ? 150 : 30 },
    );
  });

  it('keys and values as long as length varints get', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 8_000_000 });
    const given = [0, 63, 64, 8_191, 8_192, 1_048_575, 1_048_576, 2_097_152, 3].map((size, i): PlainRecord => ({
      timestamp: i,
      key: Buffer.alloc(i, 'k'),
      value: Buffer.alloc(size, i),
      headers: [],
    }));
    for (const { timestamp, key, value } of given) builder.append(timestamp, key, 0, key?.length ?? 0, bufferEncoder, value, null);
    const batches = builder.take();
    if (batches === null) throw new Error('no batches');
    batches.stamp(null, 0);
    const read = readAll(openCursor(inLog(batches, 0)));
    expect(
      isDeepStrictEqual(
        read,
        given.map((each, offset) => ({ ...each, offset })),
      ),
    ).toBe(true);
  });
});
