import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { JoinGroupResponse, KafkaPort } from '../../src/kafka/port.js';
import { createTopic, eventually, openPort, unique } from './broker-fixture.js';

describe('group membership on a real broker', () => {
  let first: KafkaPort;
  let second: KafkaPort;
  beforeAll(async () => {
    [first, second] = [openPort(), openPort()];
    await Promise.all([first.connect(), second.connect()]);
  });
  afterAll(() => Promise.all([first.close(), second.close()]));

  const request = (groupId: string, memberId: string) => ({
    groupId,
    memberId,
    groupInstanceId: null,
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 20_000,
    protocolType: 'consumer',
    protocols: [{ name: 'test', metadata: Buffer.from(`of ${memberId}`) }],
  });

  /** Joins as the protocol wants it: the first answer only gives the member its id. */
  async function join(port: KafkaPort, coordinator: number, groupId: string, memberId = ''): Promise<JoinGroupResponse> {
    const answer = await eventually(
      () => port.joinGroup(coordinator, request(groupId, memberId)),
      ({ errorCode }) => ![14, 15, 16].includes(errorCode),
    );
    return answer.errorCode === 79 ? port.joinGroup(coordinator, request(groupId, answer.memberId)) : answer;
  }

  it('lets two members join, share an assignment, heartbeat, commit and leave', async () => {
    const topic = await createTopic(first, 'group-input', 2);
    const groupId = unique('group');
    const coordinator = await first.findCoordinator('group', groupId);
    expect(await first.admin.describeGroup(groupId)).toBeNull();

    const alone = await join(first, coordinator, groupId);
    expect(alone).toMatchObject({ errorCode: 0, generation: 1, protocolName: 'test', leader: alone.memberId });
    const a = alone.memberId;
    const inFirst = { groupId, memberId: a, groupInstanceId: null, generation: 1 };
    const mine = [{ memberId: a, assignment: Buffer.from('all') }];
    const synced = await first.syncGroup(coordinator, { ...inFirst, protocolType: 'consumer', protocolName: 'test', assignments: mine });
    expect(synced).toEqual({ errorCode: 0, assignment: Buffer.from('all') });
    expect((await first.heartbeat(coordinator, inFirst)).errorCode).toBe(0);

    const joiningSecond = join(second, coordinator, groupId);
    await eventually(
      () => first.heartbeat(coordinator, inFirst),
      ({ errorCode }) => errorCode === 27,
    );
    // The second member's join is parked at the broker now: its other requests must not wait for it.
    const offset = { topic, partition: 0, offset: 5, leaderEpoch: -1, metadata: null };
    expect(await first.offsetCommit(coordinator, { ...inFirst, offsets: [offset] })).toEqual([{ topic, partition: 0, errorCode: 0 }]);
    const read = await second.offsetFetch(coordinator, { groupId, partitions: [{ topic, partition: 0 }], requireStable: true });
    expect(read.offsets[0]!.offset).toBe(5);

    const [leader, follower] = await Promise.all([join(first, coordinator, groupId, a), joiningSecond]);
    expect([leader.generation, follower.generation]).toEqual([2, 2]);
    expect(follower).toMatchObject({ errorCode: 0, leader: a, members: [] });
    const b = follower.memberId;
    expect(leader.members.map(({ memberId, metadata }) => [memberId, metadata.toString()]).sort()).toEqual(
      [
        [a, `of ${a}`],
        [b, `of ${b}`],
      ].sort(),
    );

    const second1 = { groupId, memberId: b, groupInstanceId: null, generation: 2 };
    const sync = { protocolType: 'consumer', protocolName: 'test' };
    const followerSync = second.syncGroup(coordinator, { ...second1, ...sync, assignments: [] });
    const assignments = [
      { memberId: a, assignment: Buffer.from('left') },
      { memberId: b, assignment: Buffer.from('right') },
    ];
    expect((await first.syncGroup(coordinator, { ...inFirst, generation: 2, ...sync, assignments })).assignment.toString()).toBe('left');
    expect((await followerSync).assignment.toString()).toBe('right');

    const described = await first.admin.describeGroup(groupId);
    expect(described!.state).toBe('Stable');
    expect(described!.members.map(({ assignment }) => assignment.toString()).sort()).toEqual(['left', 'right']);

    // A generation that is over is refused.
    expect((await first.heartbeat(coordinator, inFirst)).errorCode).toBe(22);
    expect((await first.offsetCommit(coordinator, { ...inFirst, offsets: [offset] }))[0]!.errorCode).toBe(22);

    expect((await second.leaveGroup(coordinator, { groupId, memberId: b, groupInstanceId: null })).errorCode).toBe(0);
    await eventually(
      () => first.heartbeat(coordinator, { ...inFirst, generation: 2 }),
      ({ errorCode }) => errorCode === 27,
    );
    expect((await first.leaveGroup(coordinator, { groupId, memberId: a, groupInstanceId: null })).errorCode).toBe(0);
    expect((await first.leaveGroup(coordinator, { groupId, memberId: a, groupInstanceId: null })).errorCode).toBe(25);
    await first.admin.deleteGroups([groupId]);
    expect(await first.admin.describeGroup(groupId)).toBeNull();
  });

  it('fences an offset commit inside a transaction by member and generation', async () => {
    const topic = await createTopic(first, 'fenced');
    const groupId = unique('group');
    const coordinator = await first.findCoordinator('group', groupId);
    const { memberId } = await join(first, coordinator, groupId);
    const member = { groupId, memberId, groupInstanceId: null, generation: 1 };
    await first.syncGroup(coordinator, {
      ...member,
      protocolType: 'consumer',
      protocolName: 'test',
      assignments: [{ memberId, assignment: Buffer.alloc(0) }],
    });
    const transactionalId = unique('tx');
    const txCoordinator = await first.findCoordinator('transaction', transactionalId);
    const { producerId, producerEpoch } = await eventually(
      () => first.initProducerId(txCoordinator, { transactionalId, transactionTimeoutMs: 10_000 }),
      ({ errorCode }) => errorCode === 0,
    );
    const offsets = [{ topic, partition: 0, offset: 1, leaderEpoch: -1, metadata: null }];
    const commit = async (generation: number, id: string) =>
      (
        await first.txnOffsetCommit(coordinator, {
          transactionalId,
          producerId,
          producerEpoch,
          ...member,
          generation,
          memberId: id,
          offsets,
        })
      )[0]!.errorCode;
    expect(await commit(0, memberId)).toBe(22);
    expect(await commit(1, 'nobody')).toBe(25);
    expect(await commit(1, memberId)).toBe(0);
    await first.endTxn(txCoordinator, { transactionalId, producerId, producerEpoch, commit: false });
    await first.leaveGroup(coordinator, { groupId, memberId, groupInstanceId: null });
  });

  it('stops looking for a coordinator when the signal aborts', async () => {
    const port = openPort(['127.0.0.1:1']);
    const found = port.findCoordinator('group', 'any', { signal: AbortSignal.timeout(150) });
    await expect(found).rejects.toMatchObject({ name: 'TimeoutError' });
    await port.close();
  });
});
