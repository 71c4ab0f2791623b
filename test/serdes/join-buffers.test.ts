/** Bytes of the rows that wait in a join's buffer. */
import { describe, expect, it } from '@jest/globals';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { sidedValuesSerde } from '../../src/serdes/sided-values.js';
import { waitingRecordsSerde } from '../../src/serdes/waiting-records.js';

const whole = <T>(serde: Serde<T>): Serde<T> => serde.withDefaults?.({ key: serdes.string, value: serdes.string }) ?? serde;

describe('records without a partner', () => {
  it('are written as Kafka Streams writes them: a list of values behind a byte for the side', () => {
    const serde = whole(sidedValuesSerde(null, serdes.int32 as Serde<unknown>));
    const values = [
      { left: true, value: 'L' },
      { left: true, value: 'MM' },
    ];
    const bytes = Buffer.from(serde.serialize(values));
    expect(bytes.toString('hex')).toBe('010000000200000002014c00000003014d4d');
    expect(serde.deserialize(bytes)).toEqual(values);
    const right = [{ left: false, value: 7 }];
    expect(serde.deserialize(Buffer.from(serde.serialize(right)))).toEqual(right);
  });

  it.each(['00', '0200000000', '010000000100000009ff'])('refuses %s', (hex) => {
    expect(() => whole(sidedValuesSerde(null, null)).deserialize(Buffer.from(hex, 'hex'))).toThrow(/list/);
  });
});

describe('stream records that wait for a table', () => {
  it('keep their headers and their order', () => {
    const serde = whole(waitingRecordsSerde(serdes.string));
    const records = [
      { value: 'a', headers: [] },
      {
        value: '',
        headers: [
          { key: 'h', value: Buffer.from('x') },
          { key: 'é', value: null },
        ],
      },
    ];
    expect(serde.deserialize(Buffer.from(serde.serialize(records)))).toEqual(records);
  });
});
