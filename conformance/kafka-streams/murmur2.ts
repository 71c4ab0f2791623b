/** Rows `{ hex, murmur2, partitionFor }`: the default partitioner. */
import { murmur2, partitionForKey } from '../../src/bytes/murmur2.js';
import { number, object, text, type CaseEntry, type ConformanceCase } from '../case.js';

export function murmur2Row({ value }: CaseEntry): ConformanceCase | null {
  if (!('murmur2' in value && 'hex' in value)) return null;
  return {
    name: typeof value.from === 'string' ? value.from : text(value, 'hex'),
    run: async () => {
      const bytes = Buffer.from(text(value, 'hex'), 'hex');
      const mismatches: string[] = [];
      const hash = murmur2(bytes, 0, bytes.length) | 0;
      if (hash !== number(value, 'murmur2')) mismatches.push(`expected hash ${number(value, 'murmur2')}, got ${hash}`);
      for (const [partitions, expected] of Object.entries(object(value, 'partitionFor'))) {
        const got = partitionForKey(bytes, 0, bytes.length, Number(partitions));
        if (got !== expected) mismatches.push(`of ${partitions} partitions: expected ${JSON.stringify(expected)}, got ${got}`);
      }
      return mismatches;
    },
  };
}
