import { describe, expect, it } from '@jest/globals';

import type { MillraceError } from '../../../src/errors.js';
import type { BrokerVersions } from '../../../src/kafka/protocol/api.js';
import { commonVersion, negotiate } from '../../../src/kafka/protocol/api.js';
import { addPartitionsToTxn } from '../../../src/kafka/protocol/add-partitions-to-txn.js';
import { fetch } from '../../../src/kafka/protocol/fetch.js';
import { produce } from '../../../src/kafka/protocol/produce.js';

const broker = (key: number, min: number, max: number): BrokerVersions => new Map([[key, { min, max }]]);

describe('version negotiation', () => {
  it('takes the highest version that both sides have', () => {
    expect(commonVersion(fetch, broker(1, 4, 18))).toBe(13);
    expect(commonVersion(fetch, broker(1, 0, 11))).toBe(11);
    expect(commonVersion(addPartitionsToTxn, broker(24, 0, 5))).toBe(3);
  });

  it('lets one call narrow the range', () => {
    expect(commonVersion(produce, broker(0, 3, 13), 11)).toBe(11);
  });

  it('honours the lower end of the broker’s range too', () => {
    expect(commonVersion(fetch, broker(1, 14, 18))).toBe(-1);
    expect(commonVersion(fetch, broker(1, 0, 10))).toBe(-1);
  });

  it('names request, ranges and broker when there is none', () => {
    let error: MillraceError | undefined;
    try {
      negotiate(fetch, broker(1, 0, 8), '3 (kafka:9092)');
    } catch (thrown) {
      error = thrown as MillraceError;
    }
    expect(error?.code).toBe('MILL_BROKER_TOO_OLD');
    expect(error?.message).toContain('Fetch is needed in versions 11–13, but broker 3 (kafka:9092) has versions 0–8.');
  });

  it('says so when the broker does not know the request at all', () => {
    expect(() => negotiate(fetch, new Map(), '1')).toThrow('does not have it');
  });
});
