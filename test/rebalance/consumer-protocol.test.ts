import { describe, expect, it } from '@jest/globals';
import { decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription } from '../../src/rebalance/consumer-protocol.js';

describe('the consumer protocol’s framing', () => {
  it('writes a subscription as Kafka’s ConsumerProtocolSubscription v2', () => {
    const bytes = encodeSubscription({
      topics: ['b', 'a'],
      userData: Buffer.from('x'),
      ownedPartitions: [
        { topic: 'a', partition: 2 },
        { topic: 'a', partition: 0 },
      ],
      generation: 7,
    });
    expect(bytes.toString('hex')).toBe(
      ['0002', '00000002', '000161', '000162', '0000000178', '00000001', '000161', '00000002', '00000000', '00000002', '00000007'].join(''),
    );
  });

  it('reads older and newer subscriptions', () => {
    const v0 = Buffer.from('0000' + '00000001' + '000161' + 'ffffffff', 'hex');
    expect(decodeSubscription(v0)).toEqual({ topics: ['a'], userData: Buffer.alloc(0), ownedPartitions: [], generation: -1 });
    const v3 = Buffer.from('0003' + '00000001' + '000161' + '00000000' + '00000000' + '00000005' + '000172', 'hex');
    expect(decodeSubscription(v3)).toMatchObject({ topics: ['a'], generation: 5 });
  });

  it('writes and reads assignments', () => {
    const assignment = { partitions: [{ topic: 'a', partition: 1 }], userData: Buffer.from('{}') };
    const bytes = encodeAssignment(assignment);
    expect(bytes.toString('hex')).toBe(['0001', '00000001', '000161', '00000001', '00000001', '00000002', '7b7d'].join(''));
    expect(decodeAssignment(bytes)).toEqual(assignment);
  });

  it('reads nothing as an assignment of nothing', () => {
    expect(decodeAssignment(Buffer.alloc(0)).partitions).toEqual([]);
  });
});
