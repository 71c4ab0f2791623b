/** Bytes of rows that wait, as Kafka Streams' BufferValue writes them. */
import { describe, expect, it } from '@jest/globals';
import { noHeaders } from '../../src/bytes/headers.js';
import { suppressedRowSerde, type SuppressedRow } from '../../src/processors/suppressed-row.js';
import { serdes } from '../../src/serdes/serdes.js';

const serde = suppressedRowSerde(serdes.string);
const row: SuppressedRow<string> = {
  newValue: 'n',
  oldValue: 'o',
  priorValue: null,
  timestamp: 5,
  topic: 't',
  partition: 2,
  offset: 7,
  headers: noHeaders,
};

describe('a row that waits', () => {
  it('is its record’s context, then prior, old and new value with their lengths', () => {
    const context = '0000000000000005' + '0000000000000007' + '00000001' + '74' + '00000002' + '00000000';
    expect(Buffer.from(serde.serialize(row)).toString('hex')).toBe(`${context}ffffffff` + '000000016f' + '000000016e');
  });

  it('names an old value that is the prior one instead of writing it', () => {
    const bytes = Buffer.from(serde.serialize({ ...row, priorValue: 'o' }));
    expect(bytes.subarray(-14).toString('hex')).toBe('000000016f' + 'fffffffe' + '000000016e');
  });

  it.each([row, { ...row, priorValue: 'o' }, { ...row, newValue: null, oldValue: null }, { ...row, priorValue: 'p' }])(
    'comes back as it went: %p',
    (given) => {
      expect(serde.deserialize(Buffer.from(serde.serialize(given)))).toEqual(given);
    },
  );

  it('keeps headers, those without a value too', () => {
    const headers = [
      { key: 'a', value: Buffer.from('1') },
      { key: 'b', value: null },
    ];
    expect(serde.deserialize(Buffer.from(serde.serialize({ ...row, headers })))).toEqual({ ...row, headers });
  });
});
