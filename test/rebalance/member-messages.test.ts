import { describe, expect, it } from '@jest/globals';
import { encodeAssignment, encodeSubscription } from '../../src/rebalance/consumer-protocol.js';
import type { AssignedMember } from '../../src/rebalance/group-view.js';
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
      release: null,
      lastRun: null,
      tasksWithState: [{ task: parseTaskId('0_3'), offsetSum: 12 }],
      applicationServer: 'host:1',
      tags: { zone: 'a' },
      standbyTasks: [parseTaskId('0_4'), parseTaskId('0_5')],
      caughtUpTasks: [parseTaskId('0_5')],
      ownedTasks: [parseTaskId('1_0')],
      generation: 4,
      nonce: 'n.1',
      isLeaving: false,
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
      standbyTasks: [parseTaskId('0_2'), parseTaskId('0_3')],
      warmupTasks: [parseTaskId('0_3')],
      partitions: [{ topic: 'flights', partition: 1 }],
      liveTransactionalIds: ['app-p-0'],
      settled: false,
      error: { code: 'MILL_TOPIC_MISSING', message: 'no topic' },
    };
    expect(decodeMemberAssignment(encodeMemberAssignment(sent))).toEqual(sent);
  });

  it('tells of every member of the group, in few bytes', () => {
    const tasks = Array.from({ length: 500 }, (_, partition) => ({ subTopology: 1, partition }));
    const members = Array.from({ length: 50 }, (_, index): AssignedMember => ({
      memberId: `member-${index}`,
      processId: `process-${index}`,
      thread: index % 2,
      applicationServer: index === 3 ? null : `host-${index}:80`,
      tags: index === 4 ? { zone: 'a' } : {},
      activeTasks: tasks.filter(({ partition }) => partition % 50 === index),
      standbyTasks: tasks.filter(({ partition }) => partition % 50 === (index + 1) % 50),
    }));
    const bytes = encodeMemberAssignment({ ...emptyAssignment, members });
    expect(decodeMemberAssignment(bytes).members).toEqual(members);
    expect(bytes.length).toBeLessThan(4000);
  });

  it('is not compressed for a leader or a member of version 1, which could not read it', () => {
    const liveTransactionalIds = Array.from({ length: 100 }, (_, i) => `application-process-${i}`);
    const bytes = encodeMemberAssignment({ ...emptyAssignment, version: 1, liveTransactionalIds });
    expect(bytes.toString('latin1')).toContain('application-process-99');
    expect(decodeMemberAssignment(bytes)).toEqual({ ...emptyAssignment, version: 1, liveTransactionalIds });
  });

  it('may have fields of the future, and lack those of the past', () => {
    const read = (body: object) =>
      decodeMemberAssignment(encodeAssignment({ partitions: [], userData: Buffer.from(JSON.stringify(body)) }));
    expect(read({ v: 9, active: ['0_1'], wings: 2 })).toEqual({ ...emptyAssignment, version: 9, activeTasks: [parseTaskId('0_1')] });
    expect(read({ v: 1 }).members).toEqual([]);
  });

  it('may be empty', () => {
    expect(decodeMemberAssignment(Buffer.alloc(0))).toEqual(emptyAssignment);
  });

  it('of another library is refused', () => {
    expect(() => decodeMemberAssignment(encodeAssignment({ partitions: [], userData: Buffer.from('?') }))).toThrow(refusal);
  });
});
