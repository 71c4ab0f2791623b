import { describe, expect, it } from '@jest/globals';
import type { CommittedOffset, GroupMemberIdentity } from '../../../src/kafka/port.js';
import { TransactionalProducer } from '../../../src/transactions/producer/transactional-producer.js';
import { FakePort } from './fake-port.js';

const member: GroupMemberIdentity = { groupId: 'app', memberId: 'm', generation: 4, groupInstanceId: null };
const offsets: readonly CommittedOffset[] = [{ topic: 'in', partition: 0, offset: 9, leaderEpoch: -1, metadata: 'x' }];
const refused = (errorCode: number) => () => [{ topic: 'in', partition: 0, errorCode }];

/** Generations under which offsets were sent. */
const generations = (fake: FakePort): unknown[] =>
  fake.requests
    .filter(({ method }) => method === 'txnOffsetCommit' || method === 'offsetCommit')
    .map(({ request }) => (request as GroupMemberIdentity).generation);

describe.each([
  ['txnOffsetCommit', 'app-1-0'],
  ['offsetCommit', null],
] as const)('offsets that the group refuses by %s', (method, transactionalId) => {
  it.each([22, 27])('with error %d are sent again under the member’s next identity, in the same epoch', async (code) => {
    const fake = new FakePort();
    const producer = new TransactionalProducer({ port: fake.port, transactionalId });
    await producer.init();
    fake.next(method, refused(code));
    fake.next(method, refused(code));
    const asked: unknown[] = [];
    await producer.sealEpoch().commit(offsets, member, async (identity, errorCode) => {
      asked.push([identity.generation, errorCode]);
      return { ...identity, generation: identity.generation + 1 };
    });
    expect(asked).toEqual([
      [4, code],
      [5, code],
    ]);
    expect(generations(fake)).toEqual([4, 5, 6]);
    expect(producer.metrics().epochsFailed).toBe(0);
    await producer.close();
  });

  it('are lost with the epoch when the member has no next identity', async () => {
    const fake = new FakePort();
    const producer = new TransactionalProducer({ port: fake.port, transactionalId });
    await producer.init();
    fake.next(method, refused(22));
    await expect(producer.sealEpoch().commit(offsets, member, async () => null)).rejects.toMatchObject({
      code: 'MILL_TRANSACTION_ABORTED',
      details: { memberFenced: true },
    });
    await producer.close();
  });

  it('for another reason are not asked about', async () => {
    const fake = new FakePort();
    const producer = new TransactionalProducer({ port: fake.port, transactionalId });
    await producer.init();
    fake.next(method, refused(25));
    let asked = 0;
    await expect(producer.sealEpoch().commit(offsets, member, async () => (asked++, member))).rejects.toMatchObject({
      details: { memberFenced: true },
    });
    expect(asked).toBe(0);
    await producer.close();
  });
});
