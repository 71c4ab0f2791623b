import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { wholeBatches } from '../../../src/kafka/fetcher/whole-batches.js';
import { batch } from './scripted-port.js';

describe('wholeBatches', () => {
  it('finds the end of the last whole batch and the offset behind it', () => {
    const records = Buffer.concat([batch(10, 5), batch(15, 1, 61), batch(20, 2, 300)]);
    expect(wholeBatches(records, 12)).toEqual({ length: 461, nextOffset: 22, cutBatchBytes: 0, malformed: false });
  });

  it('leaves a cut batch out and says how long it is in full', () => {
    const records = Buffer.concat([batch(10, 5), batch(15, 9, 5000).subarray(0, 70)]);
    expect(wholeBatches(records, 10)).toEqual({ length: 100, nextOffset: 15, cutBatchBytes: 5000, malformed: false });
  });

  it('stays where it was when there is none', () => {
    expect(wholeBatches(Buffer.alloc(0), 33)).toMatchObject({ length: 0, nextOffset: 33 });
    expect(wholeBatches(batch(33, 4).subarray(0, 16), 33)).toMatchObject({ length: 0, nextOffset: 33, cutBatchBytes: 0 });
  });

  it('tells an impossible length', () => {
    const records = batch(0, 1);
    records.writeInt32BE(-5, 8);
    expect(wholeBatches(records, 0)).toMatchObject({ length: 0, malformed: true });
  });

  it('gives the same position wherever the bytes are cut, batch by batch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 61, max: 400 })), { maxLength: 20 }),
        fc.nat(4000),
        (sizes, cut) => {
          const batches: Buffer[] = [];
          let offset = 0;
          for (const [count, size] of sizes) {
            batches.push(batch(offset, count, size));
            offset += count;
          }
          let position = 0;
          let rest = Buffer.concat(batches);
          const first = wholeBatches(rest.subarray(0, cut), 0);
          position = first.nextOffset;
          rest = rest.subarray(first.length);
          expect(wholeBatches(rest, position)).toMatchObject({ length: rest.length, nextOffset: offset });
        },
      ),
    );
  });
});
