import { describe, expect, it } from '@jest/globals';
import type { Encoder } from '../../../src/bytes/encoder.js';
import { crc32c } from '../../../src/bytes/crc32c.js';
import { BatchMemory } from '../../../src/kafka/record-batch/batch-memory.js';
import { type EncodedBatches, sequenceAfter } from '../../../src/kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../../src/kafka/record-batch/record-batch-builder.js';
import { appendTo, encode, inLog, openCursor, readAll, record, thrownBy, valuesOf } from './batches.js';

const identity = { producerId: 77n, producerEpoch: 5, transactional: true };
const utf8: Encoder<string> = { encode: (value, out) => out.writeUtf8(value) };

function take(builder: RecordBatchBuilder): EncodedBatches {
  const batches = builder.take();
  if (batches === null) throw new Error('nothing was buffered');
  return batches;
}

describe('the bytes of a batch', () => {
  it('are those of Kafka’s message format v2', () => {
    const batch = encode([record('v', { timestamp: 1_000, key: Buffer.from('k') }), record(null, { timestamp: 998 })], {
      baseOffset: 9,
      identity,
    });
    const header = '0000000000000009' + '00000041' + 'ffffffff' + '02';
    const afterCrc =
      '0010' + // transactional
      '00000001' + // last offset delta
      '00000000000003e8' +
      '00000000000003e8' + // base and max timestamp
      '000000000000004d' +
      '0005' +
      '00000000' + // producer id, epoch, base sequence
      '00000002' +
      ('10' + '00' + '00' + '00' + '02' + '6b' + '02' + '76' + '00') +
      ('0c' + '00' + '03' + '02' + '01' + '01' + '00');
    expect(batch.subarray(0, 17).toString('hex')).toBe(header);
    expect(batch.subarray(21).toString('hex')).toBe(afterCrc);
    expect(batch.readUInt32BE(17)).toBe(crc32c(batch, 21));
  });

  it('are sent uncompressed when compression would make them longer', () => {
    const batch = encode([record('x')], { compression: 'gzip' });
    expect(batch.readInt16BE(21) & 7).toBe(0);
    expect(valuesOf(readAll(openCursor(batch)))).toEqual(['x']);
  });
});

describe('stamp', () => {
  it('numbers the records over all batches and may be repeated for another identity', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 100 });
    for (const value of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) appendTo(builder, record(value.repeat(8)));
    const batches = take(builder);
    expect(batches.batches.map(({ recordCount }) => recordCount)).toEqual([2, 2, 2, 1]);

    expect(batches.stamp(identity, 40)).toBe(47);
    const sequences = () => batches.batches.map(({ buffer }) => buffer.readInt32BE(53));
    expect(sequences()).toEqual([40, 42, 44, 46]);

    expect(batches.stamp({ producerId: 78n, producerEpoch: 6, transactional: false }, 0)).toBe(7);
    expect(sequences()).toEqual([0, 2, 4, 6]);
    const cursor = openCursor(inLog(batches, 0));
    expect(cursor.next()).toBe(true);
    expect(cursor).toMatchObject({ producerId: 78n, producerEpoch: 6, baseSequence: 0, isTransactional: false });
  });

  it('without an identity leaves producer id, epoch and sequence at -1', () => {
    const cursor = openCursor(encode([record('x')]));
    expect(cursor.next()).toBe(true);
    expect(cursor).toMatchObject({ producerId: -1n, producerEpoch: -1, baseSequence: -1 });
  });

  it('goes from 2^31−1 to 0, as Kafka does', () => {
    expect(sequenceAfter(0x7fff_ffff, 1)).toBe(0);
    expect(sequenceAfter(0x7fff_fffe, 1)).toBe(0x7fff_ffff);
    expect(sequenceAfter(0x7fff_fffe, 5)).toBe(3);
    expect(sequenceAfter(7, 3)).toBe(10);
  });
});

describe('what does not fit', () => {
  it('goes into the next batch, its deltas starting anew', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 150 });
    const given = Array.from({ length: 9 }, (_, i) =>
      record(`value-${i}`.padEnd(20 + i), { timestamp: 5_000 - i * 100, key: Buffer.from(`k${i}`) }),
    );
    for (const each of given) appendTo(builder, each);
    const batches = take(builder);
    expect(batches.batches.length).toBeGreaterThan(2);
    batches.stamp(null, 0);
    expect(readAll(openCursor(inLog(batches, 0)))).toEqual(given.map((each, offset) => ({ ...each, offset })));
  });

  it('alone: MILL_RECORD_TOO_LARGE, and the builder is as it was', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 200 });
    const big = 'x'.repeat(140);
    const attempts = [
      () => appendTo(builder, record(big)),
      () => builder.append(1, null, 0, 0, utf8, big, null),
      () => builder.append(1, null, 0, 0, utf8, 'x'.repeat(300_000), null),
      () => builder.append(1, Buffer.alloc(300), 0, 300, utf8, '', null),
      () => appendTo(builder, record('', { headers: [{ key: 'h', value: Buffer.alloc(180) }] })),
      () => appendTo(builder, record('', { headers: [{ key: 'h', value: Buffer.alloc(10_000_000) }] })),
    ];
    for (const attempt of attempts)
      expect(thrownBy(attempt)).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE', details: { maxBatchBytes: 200 } });
    expect(builder.byteLength).toBe(0);
    expect(builder.take()).toBeNull();

    appendTo(builder, record('before'));
    const { byteLength } = builder;
    for (const attempt of attempts) expect(thrownBy(attempt)).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE' });
    expect(builder.byteLength).toBe(byteLength);
    appendTo(builder, record('after'));
    expect(written(builder)).toEqual(['before', 'after']);
  });

  it('holds a record that fills a batch to the byte', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 200 });
    appendTo(builder, record('first'));
    const size = appendTo(builder, record('x'.repeat(200 - 61 - 9)));
    expect(size).toBe(139);
    expect(take(builder).batches.map(({ buffer }) => buffer.length)).toEqual([61 + 12, 200]);
    expect(thrownBy(() => appendTo(builder, record('x'.repeat(200 - 61 - 8))))).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE' });
  });
});

describe('a failing encoder', () => {
  it('leaves the builder as it was', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000 });
    const failing: Encoder<string> = {
      encode(_value, out) {
        out.writeUtf8('half a val');
        throw new Error('no more');
      },
    };
    expect(() => builder.append(1, null, 0, 0, failing, 'x', null)).toThrow('no more');
    expect(builder.take()).toBeNull();
    builder.append(1, null, 0, 0, utf8, 'one', null);
    expect(() => builder.append(1, null, 0, 0, failing, 'x', null)).toThrow('no more');
    builder.append(1, null, 0, 0, utf8, 'two', null);
    expect(written(builder)).toEqual(['one', 'two']);
  });

  it('that moves the writer back is told so', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000 });
    expect(thrownBy(() => builder.append(1, null, 0, 0, { encode: (_value, out) => out.reset() }, 'x', null))).toMatchObject({
      code: 'MILL_SERDE',
    });
    builder.append(1, null, 0, 0, utf8, 'fine', null);
    expect(written(builder)).toEqual(['fine']);
  });
});

describe('bad input', () => {
  it.each([NaN, 1.5, -2, Infinity, 2 ** 53])('timestamp %d: MILL_INVALID_TIMESTAMP', (timestamp) => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000 });
    expect(thrownBy(() => appendTo(builder, record('x', { timestamp })))).toMatchObject({ code: 'MILL_INVALID_TIMESTAMP' });
  });

  it.each([0, 61, 1.5, NaN, 2 ** 30])('maxBatchBytes %d: MILL_CONFIG_INVALID', (maxBatchBytes) => {
    expect(thrownBy(() => new RecordBatchBuilder({ maxBatchBytes }))).toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });
});

describe('memory', () => {
  it('taken away stays untouched until it is recycled, then is used again', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000 });
    appendTo(builder, record('first'));
    const first = take(builder);
    appendTo(builder, record('second'));
    first.stamp(null, 0);
    expect(valuesOf(readAll(openCursor(inLog(first, 0))))).toEqual(['first']);

    const { buffer } = (first.batches[0] as { buffer: Buffer }).buffer;
    builder.recycle(first);
    builder.recycle(first);
    expect(written(builder)).toEqual(['second']);
    appendTo(builder, record('third'));
    const third = take(builder);
    expect(third.batches[0]!.buffer.buffer).toBe(buffer);
    appendTo(builder, record('fourth'));
    expect(take(builder).batches[0]!.buffer.buffer).not.toBe(buffer);
  });

  it('kept for reuse is bounded', () => {
    const memory = new BatchMemory(100);
    const [small, large] = [Buffer.alloc(60), Buffer.alloc(61)];
    memory.release(large);
    memory.release(small);
    expect(memory.acquire(61)).toBe(large);
    expect(memory.acquire(60)).not.toBe(small);
  });

  it('is taken by those whom it is long enough for', () => {
    const memory = new BatchMemory();
    const [small, large] = [Buffer.alloc(60), Buffer.alloc(200)];
    memory.release(large);
    memory.release(small);
    expect(memory.acquire(100)).toBe(large);
    expect(memory.acquire(100).length).toBe(100);
    expect(memory.acquire(10)).toBe(small);
  });

  it('is as long as the batch before needed', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000_000, memory: new BatchMemory(0) });
    const sizes = [1, 2].map(() => {
      for (let i = 0; i < 3_000; i++) appendTo(builder, record('x'.repeat(100)));
      return (take(builder).batches[0] as { buffer: Buffer }).buffer.buffer.byteLength;
    });
    expect(sizes).toEqual([512 * 1024, 512 * 1024]);
  });
});

function written(builder: RecordBatchBuilder): (string | null)[] {
  const batches = take(builder);
  batches.stamp(null, 0);
  return valuesOf(readAll(openCursor(inLog(batches, 0))));
}

describe('headers that are no bytes', () => {
  it('are refused by their key, and the builder is as it was', () => {
    const builder = new RecordBatchBuilder({ maxBatchBytes: 1000 });
    const value = Buffer.from('v');
    const append = (headers: unknown): number => builder.appendRaw(5, null, 0, 0, value, 0, 1, headers as never);
    append(null);
    const before = builder.byteLength;
    for (const wrong of ['hello', 5, Promise.resolve(value), undefined]) {
      expect(thrownBy(() => append([{ key: 'a', value: wrong }]))).toMatchObject({
        code: 'MILL_SERDE',
        message: expect.stringContaining('the value of header a must be a Buffer or null'),
      });
    }
    expect(builder.byteLength).toBe(before);
    append([{ key: 'a', value: null }]);
    expect(builder.recordCount).toBe(2);
    expect(take(builder).batches).toHaveLength(1);
  });
});
