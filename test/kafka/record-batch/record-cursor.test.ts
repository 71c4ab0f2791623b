import { describe, expect, it } from '@jest/globals';
import { noHeaders } from '../../../src/bytes/headers.js';
import { Codecs } from '../../../src/kafka/compression/codecs.js';
import type { PackageLoader } from '../../../src/kafka/compression/codec.js';
import { RecordCursor } from '../../../src/kafka/record-batch/record-cursor.js';
import { edited, encode, openCursor, readAll, record, thrownBy, valuesOf } from './batches.js';

const three = [record('a'), record('b'), record('c')];

describe('where a cursor starts and ends', () => {
  it('at fetchOffset, also in the middle of a batch', () => {
    const cursor = openCursor(encode(three, { baseOffset: 10 }), { fetchOffset: 11 });
    expect(readAll(cursor).map(({ offset }) => offset)).toEqual([11, 12]);
    expect(cursor.nextOffset).toBe(13);
  });

  it('passes over batches that lie before fetchOffset', () => {
    const cursor = openCursor(Buffer.concat([encode(three, { baseOffset: 10 }), encode([record('d')], { baseOffset: 13 })]), {
      fetchOffset: 13,
    });
    expect(valuesOf(readAll(cursor))).toEqual(['d']);
  });

  it('tells after each record where reading would go on', () => {
    const cursor = openCursor(encode(three, { baseOffset: 10 }), { fetchOffset: 5 });
    expect(cursor.nextOffset).toBe(5);
    cursor.next();
    expect(cursor.nextOffset).toBe(11);
    expect(cursor.next()).toBe(true);
    expect(cursor.nextOffset).toBe(12);
  });

  it('an empty chunk: at once, and nextOffset is fetchOffset', () => {
    const cursor = openCursor(Buffer.alloc(0), { fetchOffset: 7 });
    expect(cursor.next()).toBe(false);
    expect(cursor.nextOffset).toBe(7);
  });

  it('wherever the last batch is cut', () => {
    const whole = encode(three, { baseOffset: 10 });
    const cut = encode([record('d')], { baseOffset: 13 });
    const cursor = new RecordCursor();
    for (let length = 0; length < cut.length; length++) {
      openCursor(Buffer.concat([whole, cut.subarray(0, length)]), { fetchOffset: 10 }, cursor);
      expect(valuesOf(readAll(cursor))).toEqual(['a', 'b', 'c']);
      expect(cursor.nextOffset).toBe(13);
      expect(cursor.next()).toBe(false);

      openCursor(cut.subarray(0, length), { fetchOffset: 10 }, cursor);
      expect(cursor.next()).toBe(false);
      expect(cursor.nextOffset).toBe(10);
    }
  });

  it('may be opened anew in the middle, and closed', () => {
    const cursor = openCursor(encode(three));
    cursor.next();
    openCursor(encode([record('z')], { baseOffset: 40 }), { fetchOffset: 40 }, cursor);
    expect(valuesOf(readAll(cursor))).toEqual(['z']);
    openCursor(encode(three), {}, cursor).next();
    cursor.close();
    expect(cursor.next()).toBe(false);
  });
});

describe('compacted logs', () => {
  it('keep offsets and end past the batch’s last offset although its records are gone', () => {
    const batch = encode([record('a'), record('b')], { baseOffset: 10 });
    const firstRecordBytes = 8;
    // Once it held 10 … 19; 10 and 14 are left.
    const gapped = edited(batch, (bytes) => {
      bytes.writeInt32BE(9, 23);
      bytes[61 + firstRecordBytes + 3] = 4 * 2;
    });
    const cursor = openCursor(gapped, { fetchOffset: 10 });
    expect(readAll(cursor).map(({ offset }) => offset)).toEqual([10, 14]);
    expect(cursor.nextOffset).toBe(20);
  });

  it('hold batches without any record', () => {
    const emptied = edited(encode(three, { baseOffset: 10 }).subarray(0, 61), (bytes) => {
      bytes.writeInt32BE(61 - 12, 8);
      bytes.writeInt32BE(0, 57);
    });
    const cursor = openCursor(Buffer.concat([emptied, encode([record('d')], { baseOffset: 13 })]), { fetchOffset: 10 });
    expect(valuesOf(readAll(cursor))).toEqual(['d']);
    const alone = openCursor(emptied, { fetchOffset: 10 });
    expect(alone.next()).toBe(false);
    expect(alone.nextOffset).toBe(13);
  });
});

describe('timestamps', () => {
  it('may lie before the batch’s first', () => {
    const times = [5_000, 4_000, 1_700_000_000_000, -1];
    const batch = encode(times.map((timestamp) => record('x', { timestamp })));
    expect(readAll(openCursor(batch)).map(({ timestamp }) => timestamp)).toEqual(times);
  });

  it('are the batch’s greatest when the broker stamped it (LogAppendTime)', () => {
    const batch = edited(encode([record('x', { timestamp: 1 }), record('y', { timestamp: 2 })]), (bytes) => {
      bytes.writeInt16BE(0x08, 21);
      bytes.writeBigInt64BE(1_700_000_000_123n, 35);
    });
    expect(readAll(openCursor(batch)).map(({ timestamp }) => timestamp)).toEqual([1_700_000_000_123, 1_700_000_000_123]);
  });
});

describe('headers', () => {
  it('are decoded on request, repeated keys and null values kept in order', () => {
    const headers = [
      { key: 'k', value: Buffer.from('1') },
      { key: 'k', value: null },
      { key: '', value: Buffer.alloc(0) },
      { key: 'ключ', value: Buffer.from('2') },
    ];
    const cursor = openCursor(encode([record('x', { headers })]));
    cursor.next();
    expect(cursor.headers()).toEqual(headers);
  });

  it('are one shared empty list where there are none', () => {
    const cursor = openCursor(encode(three));
    cursor.next();
    expect(cursor.headers()).toBe(noHeaders);
  });

  it('have memory of their own', () => {
    const chunk = encode([record('x', { headers: [{ key: 'k', value: Buffer.from('kept') }] })]);
    const cursor = openCursor(chunk);
    cursor.next();
    const headers = cursor.headers();
    chunk.fill(0);
    expect(headers[0]!.value!.toString()).toBe('kept');
  });

  it('that are malformed: MILL_CORRUPT_BATCH, and the records go on', () => {
    const batch = encode([record('', { headers: [{ key: 'k', value: Buffer.from('v') }] }), record('after')]);
    const broken = edited(batch, (bytes) => {
      expect(bytes.subarray(61 + 6, 61 + 11).toString('hex')).toBe('02026b0276');
      bytes[61 + 7] = 0x40;
    });
    const cursor = openCursor(broken);
    cursor.next();
    expect(thrownBy(() => cursor.headers())).toMatchObject({
      code: 'MILL_CORRUPT_BATCH',
      details: { topic: 'orders', partition: 3, offset: 0 },
    });
    expect(cursor.next()).toBe(true);
    expect(cursor.offset).toBe(1);
  });
});

describe('what can’t be read', () => {
  it('a batch with any bit flipped behind its checksum: MILL_CORRUPT_BATCH naming topic, partition and offset', () => {
    const good = encode(three, { baseOffset: 10 });
    const bad = encode([record('d'), record('e')], { baseOffset: 13 });
    for (let at = 17; at < bad.length; at++) {
      const flipped = Buffer.from(bad);
      flipped[at] = (flipped[at] as number) ^ (1 << (at % 8));
      const cursor = openCursor(Buffer.concat([good, flipped]), { fetchOffset: 10 });
      const seen: number[] = [];
      const error = thrownBy(() => {
        while (cursor.next()) seen.push(cursor.offset);
      });
      expect(seen).toEqual([10, 11, 12]);
      expect(error).toMatchObject({ code: 'MILL_CORRUPT_BATCH', details: { topic: 'orders', partition: 3, offset: 13 } });
      expect(String(error)).toMatch(/Offset 13 of orders-3 .*checksum/);
      expect(cursor.next()).toBe(false);
      expect(cursor.nextOffset).toBe(13);
    }
  });

  it('unless checksums are not asked for', () => {
    const bad = encode(three);
    bad[17] = (bad[17] as number) ^ 1;
    expect(valuesOf(readAll(openCursor(bad, { verifyChecksums: false })))).toEqual(['a', 'b', 'c']);
  });

  it.each([0, 1])('message format v%d is named', (magic) => {
    const old = encode(three);
    old[16] = magic;
    const error = thrownBy(() => openCursor(old).next());
    expect(error).toMatchObject({ code: 'MILL_CORRUPT_BATCH' });
    expect(String(error)).toContain(`message format v${magic}`);
  });

  it('an unknown format or compression, offsets that fall, a wrong number of records', () => {
    const batch = encode(three, { baseOffset: 10 });
    const magic = Buffer.from(batch);
    magic[16] = 3;
    const faults = [
      [magic, /format version 3/],
      [edited(batch, (bytes) => bytes.writeInt16BE(5, 21)), /compression 5/],
      [edited(batch, (bytes) => bytes.writeInt32BE(2, 57)), /bytes follow/],
      [edited(batch, (bytes) => bytes.writeInt32BE(4, 57)), /number of records|beyond its batch/],
      [edited(batch, (bytes) => bytes.writeInt32BE(-1, 57)), /number of records/],
      [edited(batch, (bytes) => bytes.writeInt32BE(1, 23)), /beyond the batch’s last/],
      [edited(batch, (bytes) => bytes.writeInt32BE(-1, 23)), /out of range/],
      [edited(batch, (bytes) => bytes.writeBigInt64BE(2n ** 60n, 0)), /out of range/],
      [Buffer.concat([batch, batch]), /do not increase/],
    ] as const;
    for (const [bytes, message] of faults) {
      const error = thrownBy(() => readAll(openCursor(bytes, { fetchOffset: 10 })));
      expect(error).toMatchObject({ code: 'MILL_CORRUPT_BATCH' });
      expect(String(error)).toMatch(message);
    }
  });

  it('a batch that decompresses to more than it may', () => {
    const bomb = encode([record('x'.repeat(100_000))], { compression: 'gzip' });
    const error = thrownBy(() => openCursor(bomb, { maxDecompressedBytes: 50_000 }).next());
    expect(error).toMatchObject({ code: 'MILL_CORRUPT_BATCH', cause: { message: expect.stringMatching(/more than 50000 bytes/) } });
  });

  it('a compression whose package is missing: MILL_CODEC_MISSING naming package, topic, partition and offset', () => {
    const missing: PackageLoader = Object.assign(notInstalled, { resolve: notInstalled, cache: {} });
    const cursor = new RecordCursor(new Codecs(missing));
    openCursor(encode([record('x'.repeat(1_000))], { compression: 'snappy', baseOffset: 5 }), { fetchOffset: 5 }, cursor);
    const error = thrownBy(() => cursor.next());
    expect(error).toMatchObject({ code: 'MILL_CODEC_MISSING', details: { package: 'snappy', topic: 'orders', partition: 3, offset: 5 } });
    expect(String(error)).toMatch(/Offset 5 of orders-3 .*snappy/);
    expect(cursor.nextOffset).toBe(5);
  });
});

function notInstalled(): never {
  throw new Error('not installed');
}
