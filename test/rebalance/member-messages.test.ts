import { describe, expect, it } from '@jest/globals';
import { encodeAssignment, encodeSubscription } from '../../src/rebalance/consumer-protocol.js';
import { decodeMemberAssignment, emptyAssignment, encodeMemberAssignment } from '../../src/rebalance/member-assignment.js';
import { decodeMemberSubscription, encodeMemberSubscription } from '../../src/rebalance/member-subscription.js';
import { parseTaskId } from '../../src/rebalance/task-id.js';

const refusal = expect.objectContaining({ code: 'MILL_GROUP_FATAL' }) as unknown as Error;

describe('a member’s subscription', () => {
  it('comes back as it was sent', () => {
    const sent = {
      version: 1,
      topics: ['flights'],
      processId: 'p',
      thread: 2,
      transactionalId: 'app-p-2',
      topologyFingerprint: 'f00',
      tasksWithState: [{ task: parseTaskId('0_3'), offsetSum: 12 }],
      applicationServer: 'host:1',
      ownedTasks: [parseTaskId('1_0')],
      generation: 4,
      nonce: 'n.1',
    };
    expect(decodeMemberSubscription(encodeMemberSubscription(sent, [{ topic: 'flights', partition: 0 }]))).toEqual(sent);
  });

  it('may have fields of the future, and lack those of the past', () => {
    const userData = Buffer.from(JSON.stringify({ v: 9, process: 'p', wings: 2 }));
    expect(decodeMemberSubscription(encodeSubscription({ topics: [], userData, ownedPartitions: [], generation: -1 }))).toMatchObject({
      version: 9,
      ownedTasks: [],
      transactionalId: null,
    });
  });

  it.each([
    Buffer.alloc(0),
    Buffer.from('0000ff', 'hex'),
    encodeSubscription({ topics: [], userData: Buffer.from('?'), ownedPartitions: [], generation: 0 }),
  ])('of another library is refused', (bytes) => {
    expect(() => decodeMemberSubscription(bytes)).toThrow(refusal);
  });
});

describe('a member’s assignment', () => {
  it('comes back as it was sent', () => {
    const sent = {
      ...emptyAssignment,
      activeTasks: [parseTaskId('0_1')],
      partitions: [{ topic: 'flights', partition: 1 }],
      liveTransactionalIds: ['app-p-0'],
      settled: false,
      error: { code: 'MILL_TOPIC_MISSING', message: 'no topic' },
    };
    expect(decodeMemberAssignment(encodeMemberAssignment(sent))).toEqual(sent);
  });

  it('may be empty', () => {
    expect(decodeMemberAssignment(Buffer.alloc(0))).toEqual(emptyAssignment);
  });

  it('of another library is refused', () => {
    expect(() => decodeMemberAssignment(encodeAssignment({ partitions: [], userData: Buffer.from('?') }))).toThrow(refusal);
  });
});
