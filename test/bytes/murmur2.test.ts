import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { murmur2, partitionForKey } from '../../src/bytes/murmur2.js';

interface Row {
  readonly from: string;
  readonly hex: string;
  readonly murmur2: number;
  readonly partitionFor: Readonly<Record<string, number>>;
}

const vectors = new URL('../../conformance/cases/kafka-streams/murmur2.json', import.meta.url);
const { rows } = JSON.parse(readFileSync(vectors, 'utf8')) as { readonly rows: readonly Row[] };

describe('murmur2, against Kafka’s', () => {
  it.each(rows)('of $from', (row) => {
    const bytes = Buffer.from(row.hex, 'hex');
    const around = Buffer.concat([Buffer.of(9, 9, 9), bytes, Buffer.of(9)]);
    expect(murmur2(bytes)).toBe(row.murmur2);
    expect(murmur2(around, 3, 3 + bytes.length)).toBe(row.murmur2);
    for (const [partitions, partition] of Object.entries(row.partitionFor)) {
      expect(partitionForKey(bytes, 0, bytes.length, Number(partitions))).toBe(partition);
    }
  });
});
