import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JoinGroupRequest, JoinGroupResponse, KafkaPort, TopicPartition } from '../../../src/kafka/port.js';
import { begin, createTopic, eventually, portsOf, roundTrip, unique, type PortSubject } from './fixture.js';

const sync = { protocolType: 'consumer', protocolName: 'test' };

export function groupTests(subject: PortSubject): void {
  describe('groups', () => {
    const ports = portsOf(subject, 3);
    let first: KafkaPort;
    let second: KafkaPort;
    let third: KafkaPort;
    let input: TopicPartition;
    beforeAll(async () => {
      [first, second, third] = ports as [KafkaPort, KafkaPort, KafkaPort];
      input = { topic: await createTopic(first, 'group-input'), partition: 0 };
    });

    const request = (groupId: string, memberId: string, more: Partial<JoinGroupRequest> = {}): JoinGroupRequest => ({
      groupId,
      memberId,
      groupInstanceId: null,
      sessionTimeoutMs: 20_000,
      rebalanceTimeoutMs: 20_000,
      protocolType: 'consumer',
      protocols: [{ name: 'test', metadata: Buffer.from('as ever') }],
      ...more,
    });

    const coordinatorOf = (groupId: string) => first.findCoordinator('group', groupId);

    /** Joins as the protocol wants it: the first answer only gives the member its id. */
    async function join(port: KafkaPort, groupId: string, memberId = '', more: Partial<JoinGroupRequest> = {}): Promise<JoinGroupResponse> {
      const coordinator = await coordinatorOf(groupId);
      const answer = await eventually(
        () => port.joinGroup(coordinator, request(groupId, memberId, more)),
        ({ errorCode }) => ![14, 15, 16].includes(errorCode),
      );
      return answer.errorCode === 79 ? port.joinGroup(coordinator, request(groupId, answer.memberId, more)) : answer;
    }

    const assignTo = (memberIds: readonly string[]) =>
      memberIds.map((memberId) => ({ memberId, assignment: Buffer.from(`for ${memberId}`) }));

    /** A group with one member, stable in generation 1. */
    async function single(more: Partial<JoinGroupRequest> = {}) {
      const groupId = unique('group');
      const joined = await join(first, groupId, '', more);
      expect(joined).toMatchObject({ errorCode: 0, generation: 1, protocolName: 'test', leader: joined.memberId });
      const coordinator = await coordinatorOf(groupId);
      const me = { groupId, memberId: joined.memberId, groupInstanceId: more.groupInstanceId ?? null, generation: 1 };
      const synced = await first.syncGroup(coordinator, { ...me, ...sync, assignments: assignTo([me.memberId]) });
      expect(synced).toEqual({ errorCode: 0, assignment: Buffer.from(`for ${me.memberId}`) });
      return { groupId, coordinator, me };
    }

    const untilRebalancing = (port: KafkaPort, coordinator: number, me: Parameters<KafkaPort['heartbeat']>[1]) =>
      eventually(
        () => port.heartbeat(coordinator, me),
        ({ errorCode }) => errorCode === 27,
      );

    /** A stable group of two in generation 2; the first member leads. */
    async function pair() {
      const { groupId, coordinator, me } = await single();
      const joiningSecond = join(second, groupId);
      await untilRebalancing(first, coordinator, me);
      const [leader, follower] = await Promise.all([join(first, groupId, me.memberId), joiningSecond]);
      expect([leader.generation, follower.generation]).toEqual([2, 2]);
      expect([leader.leader, follower.leader]).toEqual([me.memberId, me.memberId]);
      const a = { ...me, generation: 2 };
      const b = { ...a, memberId: follower.memberId };
      const syncingSecond = second.syncGroup(coordinator, { ...b, ...sync, assignments: [] });
      await first.syncGroup(coordinator, { ...a, ...sync, assignments: assignTo([a.memberId, b.memberId]) });
      expect((await syncingSecond).assignment.toString()).toBe(`for ${b.memberId}`);
      return { groupId, coordinator, a, b, leader, follower };
    }

    it('take members in, tell the leader of all of them and hand its assignment on', async () => {
      const { groupId, leader, follower, a, b } = await pair();
      expect(leader.members.map(({ memberId, metadata }) => [memberId, metadata.toString()]).sort()).toEqual(
        [
          [a.memberId, 'as ever'],
          [b.memberId, 'as ever'],
        ].sort(),
      );
      expect(follower.members).toEqual([]);
      const described = await first.admin.describeGroup(groupId);
      expect(described!.state).toBe('Stable');
      expect(described!.members.map(({ assignment }) => assignment.toString()).sort()).toEqual(
        [`for ${a.memberId}`, `for ${b.memberId}`].sort(),
      );
    });

    it('go through their states', async () => {
      const groupId = unique('states');
      const coordinator = await coordinatorOf(groupId);
      expect(await first.admin.describeGroup(groupId)).toBeNull();
      const asked = await eventually(
        () => first.joinGroup(coordinator, request(groupId, '')),
        ({ errorCode }) => errorCode === 79,
      );
      expect(asked.memberId).not.toBe('');
      expect((await first.admin.describeGroup(groupId))!.state).toBe('Empty');
      const { memberId } = await first.joinGroup(coordinator, request(groupId, asked.memberId));
      expect((await first.admin.describeGroup(groupId))!.state).toBe('CompletingRebalance');
      const me = { groupId, memberId, groupInstanceId: null, generation: 1 };
      expect((await first.heartbeat(coordinator, me)).errorCode).toBe(0);
      await first.syncGroup(coordinator, { ...me, ...sync, assignments: [] });
      expect((await first.admin.describeGroup(groupId))!.state).toBe('Stable');
      const joining = join(second, groupId);
      await untilRebalancing(first, coordinator, me);
      expect((await first.admin.describeGroup(groupId))!.state).toBe('PreparingRebalance');
      expect((await first.leaveGroup(coordinator, me)).errorCode).toBe(0);
      const other = await joining;
      expect(other).toMatchObject({ errorCode: 0, generation: 2, leader: other.memberId });
      expect((await second.leaveGroup(coordinator, { ...me, memberId: other.memberId })).errorCode).toBe(0);
      expect((await first.admin.describeGroup(groupId))!.state).toBe('Empty');
      await first.admin.deleteGroups([groupId, unique('absent')]);
      expect(await first.admin.describeGroup(groupId)).toBeNull();
    });

    it('refuse strangers, generations that are not theirs and protocols that nobody shares', async () => {
      const { groupId, coordinator, me } = await single();
      const stranger = { ...me, memberId: 'nobody' };
      const other = { ...me, generation: 7 };
      expect((await first.heartbeat(coordinator, stranger)).errorCode).toBe(25);
      expect((await first.heartbeat(coordinator, other)).errorCode).toBe(22);
      expect((await first.syncGroup(coordinator, { ...stranger, ...sync, assignments: [] })).errorCode).toBe(25);
      expect((await first.syncGroup(coordinator, { ...other, ...sync, assignments: [] })).errorCode).toBe(22);
      expect((await first.syncGroup(coordinator, { ...me, ...sync, protocolName: 'other', assignments: [] })).errorCode).toBe(23);
      expect((await first.leaveGroup(coordinator, stranger)).errorCode).toBe(25);
      expect((await join(second, groupId, 'nobody')).errorCode).toBe(25);
      expect((await join(second, groupId, '', { protocols: [{ name: 'other', metadata: Buffer.alloc(0) }] })).errorCode).toBe(23);
      expect((await join(second, groupId, '', { protocolType: 'connect' })).errorCode).toBe(23);
      expect((await join(second, groupId, '', { sessionTimeoutMs: 1 })).errorCode).toBe(26);
      const absent = unique('absent');
      const nowhere = await coordinatorOf(absent);
      expect((await first.heartbeat(nowhere, { ...me, groupId: absent })).errorCode).toBe(25);
      expect((await join(first, absent, 'nobody')).errorCode).toBe(25);
      await expect(first.admin.deleteGroups([groupId])).rejects.toMatchObject({ details: { brokerErrorCode: 68 } });
    });

    it('answer a repeated sync from a stable group, and none from one that rebalances', async () => {
      const { groupId, coordinator, me } = await single();
      const again = await first.syncGroup(coordinator, { ...me, ...sync, assignments: [] });
      expect(again.assignment.toString()).toBe(`for ${me.memberId}`);
      const joining = join(second, groupId);
      await untilRebalancing(first, coordinator, me);
      expect((await first.syncGroup(coordinator, { ...me, ...sync, assignments: [] })).errorCode).toBe(27);
      await first.leaveGroup(coordinator, me);
      await joining;
    });

    it('give a follower that joins unchanged its generation, and begin a new one for changed metadata or the leader', async () => {
      const { groupId, coordinator, a, b } = await pair();
      expect(await join(second, groupId, b.memberId)).toMatchObject({ errorCode: 0, generation: 2, memberId: b.memberId, members: [] });
      expect((await first.heartbeat(coordinator, a)).errorCode).toBe(0);
      const changed = join(second, groupId, b.memberId, { protocols: [{ name: 'test', metadata: Buffer.from('new') }] });
      await untilRebalancing(first, coordinator, a);
      const [leads, follows] = await Promise.all([join(first, groupId, a.memberId), changed]);
      expect([leads.generation, follows.generation]).toEqual([3, 3]);
      // While assignments are awaited both may ask again.
      expect(await join(first, groupId, a.memberId)).toMatchObject({ generation: 3, leader: a.memberId });
      expect((await join(first, groupId, a.memberId)).members).toHaveLength(2);
      await first.syncGroup(coordinator, { ...a, generation: 3, ...sync, assignments: assignTo([a.memberId]) });
      expect((await second.syncGroup(coordinator, { ...b, generation: 3, ...sync, assignments: [] })).assignment).toHaveLength(0);
      const leaderAgain = join(first, groupId, a.memberId);
      await untilRebalancing(second, coordinator, { ...b, generation: 3 });
      const both = await Promise.all([leaderAgain, join(second, groupId, b.memberId)]);
      expect(both.map(({ generation }) => generation)).toEqual([4, 4]);
    });

    it('tell a member that waits for its assignment of a new rebalance', async () => {
      const { groupId, coordinator, a, b } = await pair();
      const leaderAgain = join(first, groupId, a.memberId);
      await untilRebalancing(second, coordinator, b);
      await Promise.all([leaderAgain, join(second, groupId, b.memberId)]);
      const waiting = second.syncGroup(coordinator, { ...b, generation: 3, ...sync, assignments: [] });
      await roundTrip(second);
      const joining = join(third, groupId);
      expect((await waiting).errorCode).toBe(27);
      const [one, two, three] = await Promise.all([join(first, groupId, a.memberId), join(second, groupId, b.memberId), joining]);
      expect([one.generation, two.generation, three.generation]).toEqual([4, 4, 4]);
      expect(one.members).toHaveLength(3);
    });

    it('go on without a member that does not come back within the rebalance timeout', async () => {
      const timeouts = { rebalanceTimeoutMs: 1000 };
      const { groupId, coordinator, me } = await single(timeouts);
      const alone = await join(second, groupId, '', timeouts);
      expect(alone).toMatchObject({ errorCode: 0, generation: 2, leader: alone.memberId });
      expect(alone.members).toHaveLength(1);
      expect((await first.heartbeat(coordinator, me)).errorCode).toBe(25);
    });

    it('drop a member whose session ends', async () => {
      const sessionTimeoutMs = subject.shortestSessionMs;
      const { groupId, coordinator, me } = await single({ sessionTimeoutMs });
      const started = performance.now();
      await eventually(
        () => second.admin.describeGroup(groupId),
        (group) => group?.state === 'Empty',
      );
      expect(performance.now() - started).toBeGreaterThan(sessionTimeoutMs * 0.7);
      expect((await first.heartbeat(coordinator, me)).errorCode).toBe(25);
      const again = await join(second, groupId);
      expect(again).toMatchObject({ errorCode: 0, leader: again.memberId });
      expect(again.generation).toBe(3);
    });

    it('keep a member that is parked in a join beyond its session', async () => {
      const { groupId, coordinator, me } = await single();
      const parked = join(second, groupId, '', { sessionTimeoutMs: subject.shortestSessionMs });
      await untilRebalancing(first, coordinator, me);
      await new Promise((resolve) => setTimeout(resolve, subject.shortestSessionMs * 1.5));
      const [one, two] = await Promise.all([join(first, groupId, me.memberId), parked]);
      expect([one.generation, two.generation]).toEqual([2, 2]);
    });

    it('put a static member that comes back in its old place, and fence the old one', async () => {
      const groupInstanceId = unique('instance');
      const { groupId, coordinator, me } = await single({ groupInstanceId });
      const changed = [{ name: 'test', metadata: Buffer.from('of another process') }];
      const back = await join(second, groupId, '', { groupInstanceId, protocols: changed });
      expect(back).toMatchObject({ errorCode: 0, generation: 1 });
      expect(back.memberId).not.toBe(me.memberId);
      const now = { ...me, memberId: back.memberId };
      const synced = await second.syncGroup(coordinator, { ...now, ...sync, assignments: [] });
      expect(synced.assignment.toString()).toBe(`for ${me.memberId}`);
      expect((await second.heartbeat(coordinator, now)).errorCode).toBe(0);
      expect((await first.heartbeat(coordinator, me)).errorCode).toBe(82);
      expect((await first.syncGroup(coordinator, { ...me, ...sync, assignments: [] })).errorCode).toBe(82);
      const fenced = await first.offsetCommit(coordinator, { ...me, offsets: [{ ...input, offset: 1, leaderEpoch: -1, metadata: null }] });
      expect(fenced[0]!.errorCode).toBe(82);
      expect((await first.leaveGroup(coordinator, { groupId, memberId: '', groupInstanceId })).errorCode).toBe(0);
      expect((await second.heartbeat(coordinator, now)).errorCode).toBe(25);
    });

    describe('commit offsets', () => {
      const at = (offset: number) => [{ ...input, offset, leaderEpoch: -1, metadata: null }];
      const outside = { memberId: '', generation: -1, groupInstanceId: null };

      it('of their members, in their generation', async () => {
        const { groupId, coordinator, me } = await single();
        const commit = async (member: typeof me, offset: number) =>
          (await first.offsetCommit(coordinator, { ...member, offsets: at(offset) }))[0]!.errorCode;
        expect(await commit(me, 5)).toBe(0);
        expect(await commit({ ...me, generation: 0 }, 6)).toBe(22);
        expect(await commit({ ...me, memberId: 'nobody' }, 6)).toBe(25);
        expect(await commit({ ...me, ...outside }, 6)).toBe(25);
        const joining = join(second, groupId);
        await untilRebalancing(first, coordinator, me);
        expect(await commit(me, 7)).toBe(0);
        const rejoined = join(first, groupId, me.memberId);
        await Promise.all([rejoined, joining]);
        expect(await commit({ ...me, generation: 2 }, 8)).toBe(27);
        const { offsets } = await first.offsetFetch(coordinator, { groupId, partitions: [input], requireStable: true });
        expect(offsets[0]).toMatchObject({ offset: 7, errorCode: 0 });
      });

      it('without members too', async () => {
        const groupId = unique('simple');
        const coordinator = await coordinatorOf(groupId);
        const commit = async (member: typeof outside) =>
          eventually(
            async () => (await first.offsetCommit(coordinator, { groupId, ...member, offsets: at(3) }))[0]!.errorCode,
            (errorCode) => ![14, 15, 16].includes(errorCode),
          );
        expect(await commit({ ...outside, memberId: 'someone', generation: 2 })).toBe(69);
        expect(await commit(outside)).toBe(0);
        expect((await first.admin.describeGroup(groupId))!.state).toBe('Empty');
        const all = await first.offsetFetch(coordinator, { groupId, partitions: null, requireStable: false });
        expect(all.offsets).toEqual([{ ...input, offset: 3, leaderEpoch: -1, metadata: '', errorCode: 0 }]);
        const none = await first.offsetFetch(coordinator, { groupId, partitions: [{ ...input, partition: 1 }], requireStable: false });
        expect(none.offsets[0]).toMatchObject({ offset: -1, errorCode: 0 });
      });

      it('inside transactions by member and generation, also while they rebalance', async () => {
        const { groupId, coordinator, me } = await single();
        const { identity } = await begin(first, unique('tx'));
        const commit = async (member: typeof me) =>
          eventually(
            async () => (await first.txnOffsetCommit(coordinator, { ...identity, ...member, offsets: at(1) }))[0]!.errorCode,
            (errorCode) => errorCode !== 51,
          );
        expect(await commit({ ...me, generation: 0 })).toBe(22);
        expect(await commit({ ...me, memberId: 'nobody' })).toBe(25);
        expect(await commit(me)).toBe(0);
        const joining = join(second, groupId);
        await untilRebalancing(first, coordinator, me);
        expect(await commit(me)).toBe(0);
        await Promise.all([join(first, groupId, me.memberId), joining]);
        // The new generation waits for its assignments: the old one is over, the new one may commit.
        expect(await commit(me)).toBe(22);
        expect(await commit({ ...me, generation: 2 })).toBe(0);
      });
    });
  });
}
