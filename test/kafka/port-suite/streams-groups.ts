import { beforeAll, describe, expect, it } from '@jest/globals';
import type { KafkaPort } from '../../../src/kafka/port.js';
import {
  StreamsStatus,
  type StreamsAssignment,
  type StreamsGroupHeartbeatRequest,
  type StreamsGroupHeartbeatResponse,
  type StreamsGroupJoin,
  type StreamsGroupMemberDescription,
  type StreamsGroupSubTopology,
  type StreamsGroupTopology,
} from '../../../src/kafka/streams-groups.js';
import { begin, createTopic, eventually, outsideGroup, portsOf, unique, type PortSubject } from './fixture.js';

const nothing: StreamsAssignment = { active: [], standby: [], warmup: [] };
const everything: StreamsAssignment = { ...nothing, active: ['0', '1'].map((subTopology) => ({ subTopology, partitions: [0, 1] })) };
const allTasks = ['0_0', '0_1', '1_0', '1_1'];
const statusesOf = ({ statuses }: StreamsGroupHeartbeatResponse): number[] => statuses.map(({ code }) => code);
const idsOf = (tasks: StreamsAssignment['active']): string[] =>
  tasks.flatMap(({ subTopology, partitions }) => partitions.map((partition) => `${subTopology}_${partition}`)).sort();

interface Beat {
  readonly owned?: StreamsAssignment;
  readonly instance?: string;
  readonly shutdown?: boolean;
  readonly join?: Partial<StreamsGroupJoin>;
}

export function streamsGroupTests(subject: PortSubject): void {
  describe('streams groups', () => {
    const ports = portsOf(subject, 1);
    let port: KafkaPort;
    let input: string;
    beforeAll(async () => {
      [port] = ports as [KafkaPort];
      input = await createTopic(port, 'streams-input', 2);
    });

    const sub = (id: string, more: Partial<StreamsGroupSubTopology>): StreamsGroupSubTopology => ({
      id,
      sourceTopics: [],
      repartitionSinkTopics: [],
      repartitionSourceTopics: [],
      changelogTopics: [],
      copartitionGroups: [],
      ...more,
    });

    const topology = (groupId: string): StreamsGroupTopology => {
      const made = { partitions: 0, replicationFactor: 0 };
      const repartition = `${groupId}-again-repartition`;
      return {
        epoch: 0,
        subTopologies: [
          sub('0', { sourceTopics: [input], repartitionSinkTopics: [repartition] }),
          sub('1', {
            repartitionSourceTopics: [{ ...made, name: repartition, configs: {} }],
            changelogTopics: [{ ...made, name: `${groupId}-store-changelog`, configs: { 'cleanup.policy': 'compact' } }],
          }),
        ],
      };
    };

    const coordinatorOf = (groupId: string) => port.findCoordinator('group', groupId);
    const describeGroup = (groupId: string) => port.admin.describeStreamsGroup(groupId);

    async function beat(groupId: string, memberId: string, memberEpoch: number, { owned, instance, shutdown = false, join }: Beat = {}) {
      const joining = {
        topology: topology(groupId),
        rebalanceTimeoutMs: 20_000,
        rackId: null,
        processId: `process-of-${memberId}`,
        endpoint: null,
        tags: {},
        ...join,
      };
      const request: StreamsGroupHeartbeatRequest = {
        groupId,
        memberId,
        memberEpoch,
        endpointEpoch: -1,
        groupInstanceId: instance ?? null,
        joining: memberEpoch === 0 ? joining : null,
        owned: memberEpoch === 0 ? nothing : (owned ?? null),
        shutdown,
      };
      const coordinator = await coordinatorOf(groupId);
      return eventually(
        () => port.streamsGroupHeartbeat(coordinator, request),
        ({ errorCode }) => ![14, 15, 16].includes(errorCode),
      );
    }

    async function placeOf(groupId: string, memberId: string): Promise<StreamsGroupMemberDescription> {
      const group = await describeGroup(groupId);
      return group!.members.find((member) => member.memberId === memberId)!;
    }

    /** Each member does as it is told, until the group is at rest. */
    function settle(groupId: string, members: readonly string[], instance?: string) {
      return settleEach(
        groupId,
        members.map((memberId) => [memberId, instance ?? null]),
      );
    }

    async function settleEach(
      groupId: string,
      members: readonly (readonly [memberId: string, instance: string | null])[],
    ): Promise<readonly StreamsGroupMemberDescription[]> {
      await eventually(
        async () => {
          for (const [memberId, instance] of members) {
            const { memberEpoch, assignment } = await placeOf(groupId, memberId);
            const more = instance === null ? {} : { instance };
            expect((await beat(groupId, memberId, memberEpoch, { owned: assignment, ...more })).errorCode).toBe(0);
          }
          return (await describeGroup(groupId))!;
        },
        ({ state, members: all }) => state === 'Stable' && all.some(({ assignment }) => assignment.active.length > 0),
      );
      return Promise.all(members.map(([memberId]) => placeOf(groupId, memberId)));
    }

    /** A name for a group that places tasks without waiting for more members. */
    async function named(name: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
      const groupId = unique(name);
      await subject.alterGroup(groupId, {
        'streams.initial.rebalance.delay.ms': '0',
        'streams.assignment.interval.ms': '0',
        ...settings,
      });
      return groupId;
    }

    async function single(name: string, more: Beat = {}): Promise<{ readonly groupId: string; readonly epoch: number }> {
      const groupId = await named(name);
      expect((await beat(groupId, 'a', 0, more)).errorCode).toBe(0);
      const [a] = await settle(groupId, ['a'], more.instance);
      expect(idsOf(a!.assignment.active)).toEqual(allTasks);
      return { groupId, epoch: a!.memberEpoch };
    }

    it('begin with the topology of the first member: the coordinator makes internal topics and gives it all tasks', async () => {
      const groupId = await named('begins');
      expect(await describeGroup(groupId)).toBeNull();
      const joined = await beat(groupId, 'a', 0);
      expect(joined).toMatchObject({ errorCode: 0, assignment: nothing });
      expect(statusesOf(joined)).toContain(StreamsStatus.MISSING_INTERNAL_TOPICS);
      expect((await describeGroup(groupId))!.state).toBe('NotReady');
      const [a] = await settle(groupId, ['a']);
      expect(idsOf(a!.assignment.active)).toEqual(allTasks);
      const internal = [`${groupId}-again-repartition`, `${groupId}-store-changelog`];
      const { topics } = await port.metadata(internal, { refresh: true });
      expect(internal.map((name) => topics.get(name)!.partitions.length)).toEqual([2, 2]);
      const configs = await port.admin.describeTopicConfigs([internal[1]!]);
      expect(configs.get(internal[1]!)!.get('cleanup.policy')).toBe('compact');
    });

    it('tell a change of the assignment once, and all of it to who joins again under its id', async () => {
      const { groupId, epoch } = await single('told');
      expect(await beat(groupId, 'a', epoch)).toMatchObject({ errorCode: 0, memberEpoch: epoch, statuses: [], assignment: null });
      const again = await beat(groupId, 'a', 0);
      expect(again).toMatchObject({ errorCode: 0, memberEpoch: epoch });
      expect(idsOf(again.assignment!.active)).toEqual(allTasks);
    });

    it('move tasks only once their member has let go of them', async () => {
      const { groupId, epoch } = await single('moves');
      expect((await beat(groupId, 'b', 0)).assignment).toEqual(nothing);
      const told = await eventually(
        () => beat(groupId, 'a', epoch),
        ({ assignment }) => assignment !== null,
      );
      expect(told.memberEpoch).toBe(epoch);
      expect(told.assignment!.active.flatMap(({ partitions }) => partitions)).toHaveLength(2);
      // It still has them, or does not say.
      expect(await beat(groupId, 'a', epoch, { owned: everything })).toMatchObject({ memberEpoch: epoch, assignment: null });
      expect(await beat(groupId, 'a', epoch)).toMatchObject({ memberEpoch: epoch, assignment: null });
      const b = await placeOf(groupId, 'b');
      const early = await beat(groupId, 'b', b.memberEpoch);
      expect(early.assignment).toBeNull();
      expect((await describeGroup(groupId))!.state).toBe('Reconciling');

      const letGo = await beat(groupId, 'a', epoch, { owned: told.assignment! });
      expect(letGo).toMatchObject({ errorCode: 0, assignment: null });
      expect(letGo.memberEpoch).toBeGreaterThan(epoch);
      const got = await beat(groupId, 'b', early.memberEpoch);
      expect(got.memberEpoch).toBe(letGo.memberEpoch);
      expect([...idsOf(told.assignment!.active), ...idsOf(got.assignment!.active)].sort()).toEqual(allTasks);
      expect((await describeGroup(groupId))!.state).toBe('Stable');
    });

    it('fence epochs that are not the member’s, but take the one before when its answer may have got lost', async () => {
      const { groupId, epoch } = await single('fences');
      await beat(groupId, 'b', 0);
      const told = await eventually(
        () => beat(groupId, 'a', epoch),
        ({ assignment }) => assignment !== null,
      );
      const { memberEpoch } = await beat(groupId, 'a', epoch, { owned: told.assignment! });
      expect((await beat(groupId, 'a', epoch)).errorCode).toBe(110);
      expect(await beat(groupId, 'a', epoch, { owned: told.assignment! })).toMatchObject({ errorCode: 0, memberEpoch });
      expect((await beat(groupId, 'a', epoch, { owned: everything })).errorCode).toBe(110);
      expect((await beat(groupId, 'a', memberEpoch + 1)).errorCode).toBe(110);
      expect((await beat(groupId, 'a', epoch - 1, { owned: nothing })).errorCode).toBe(110);
      expect((await beat(groupId, 'nobody', memberEpoch)).errorCode).toBe(25);
      expect((await beat(unique('absent'), 'a', memberEpoch)).errorCode).toBe(69);
      expect((await beat(groupId, '', 0)).errorCode).toBe(42);
    });

    it('give the tasks of who leaves to the others, and are empty when all have left', async () => {
      const { groupId } = await single('left');
      await beat(groupId, 'b', 0);
      const [a, b] = await settle(groupId, ['a', 'b']);
      expect([...idsOf(a!.assignment.active), ...idsOf(b!.assignment.active)].sort()).toEqual(allTasks);
      expect(await beat(groupId, 'b', -1)).toMatchObject({ errorCode: 0, memberEpoch: -1, assignment: null });
      expect((await beat(groupId, 'b', -1)).errorCode).toBe(25);
      const [alone] = await settle(groupId, ['a']);
      expect(idsOf(alone!.assignment.active)).toEqual(allTasks);
      await expect(port.admin.deleteGroups([groupId])).rejects.toMatchObject({ details: { brokerErrorCode: 68 } });
      await beat(groupId, 'a', -1);
      expect(await describeGroup(groupId)).toMatchObject({ state: 'Empty', members: [] });
      await port.admin.deleteGroups([groupId]);
      expect(await describeGroup(groupId)).toBeNull();
    });

    it('drop a member whose session ends, or that does not let go in time', async () => {
      const groupId = await named('drops', {
        'streams.session.timeout.ms': String(subject.shortestSessionMs),
        'streams.heartbeat.interval.ms': String(subject.shortestSessionMs / 2),
      });
      await beat(groupId, 'silent', 0);
      const stubborn = await single('stubborn', { join: { rebalanceTimeoutMs: subject.shortestSessionMs } });
      await beat(stubborn.groupId, 'b', 0);
      await eventually(
        () => beat(stubborn.groupId, 'a', stubborn.epoch),
        ({ errorCode }) => errorCode === 25,
      );
      const [b] = await settle(stubborn.groupId, ['b']);
      expect(idsOf(b!.assignment.active)).toEqual(allTasks);
      await eventually(
        () => describeGroup(groupId),
        (group) => group?.state === 'Empty',
      );
      expect((await beat(groupId, 'silent', 2)).errorCode).toBe(25);
    });

    it('keep the place of a static member that leaves it for the next process', async () => {
      const instance = unique('instance');
      const { groupId, epoch } = await single('static', { instance });
      expect((await beat(groupId, 'next', 0, { instance })).errorCode).toBe(111);
      expect((await beat(groupId, 'a', 0, { instance })).errorCode).toBe(111);
      expect((await beat(groupId, 'next', epoch, { instance })).errorCode).toBe(82);
      expect((await beat(groupId, 'a', epoch, { instance: 'unknown' })).errorCode).toBe(25);
      expect((await beat(groupId, 'next', -2, { instance })).errorCode).toBe(82);
      expect(await beat(groupId, 'a', -2, { instance })).toMatchObject({ errorCode: 0, memberEpoch: -2 });
      expect((await placeOf(groupId, 'a')).memberEpoch).toBe(-2);
      expect((await beat(groupId, 'a', epoch, { instance })).errorCode).toBe(110);
      const next = await beat(groupId, 'next', 0, { instance });
      expect(next.errorCode).toBe(0);
      expect(idsOf(next.assignment!.active)).toEqual(allTasks);
      expect((await describeGroup(groupId))!.members.map(({ memberId }) => memberId)).toEqual(['next']);
      expect((await beat(groupId, 'next', -1, { instance })).errorCode).toBe(0);
      expect((await describeGroup(groupId))!.state).toBe('Empty');
      expect((await beat(groupId, 'a', -2)).errorCode).toBe(42);
    });

    it('take tasks at once from a member that says it runs none of them', async () => {
      const instance = unique('instance');
      const { groupId } = await single('returns', { instance });
      await beat(groupId, 'a', -2, { instance });
      await beat(groupId, 'b', 0);
      // The next process begins with what is left, in the group's epoch.
      const next = await beat(groupId, 'next', 0, { instance });
      expect(next.errorCode).toBe(0);
      expect(next.memberEpoch).toBe((await describeGroup(groupId))!.groupEpoch);
      expect(next.assignment!.active.flatMap(({ partitions }) => partitions)).toHaveLength(2);
      const members = await settleEach(groupId, [
        ['next', instance],
        ['b', null],
      ]);
      expect(members.flatMap(({ assignment }) => idsOf(assignment.active)).sort()).toEqual(allTasks);

      const dynamic = await single('returns');
      await beat(dynamic.groupId, 'b', 0);
      const again = await beat(dynamic.groupId, 'a', 0);
      expect(again.memberEpoch).toBeGreaterThan(dynamic.epoch);
      expect(again.assignment!.active.flatMap(({ partitions }) => partitions)).toHaveLength(2);

      const owning = await single('returns');
      await beat(owning.groupId, 'b', 0);
      const { target } = await placeOf(owning.groupId, 'a');
      const told = await beat(owning.groupId, 'a', owning.epoch, { owned: target });
      expect(told.memberEpoch).toBeGreaterThan(owning.epoch);
      expect(told.assignment).toEqual(target);
    });

    it('wait for more members, at first and between two changes, as long as their settings say', async () => {
      const groupId = unique('waits');
      await subject.alterGroup(groupId, { 'streams.initial.rebalance.delay.ms': '300', 'streams.assignment.interval.ms': '1000' });
      const first = await beat(groupId, 'a', 0);
      expect(statusesOf(first)).toContain(StreamsStatus.ASSIGNMENT_DELAYED);
      expect(first.assignment).toEqual(nothing);
      const [a] = await settle(groupId, ['a']);
      const later = await beat(groupId, 'b', 0);
      expect(statusesOf(later)).toEqual([StreamsStatus.ASSIGNMENT_DELAYED]);
      expect(later).toMatchObject({ memberEpoch: a!.memberEpoch, assignment: nothing });
      expect((await describeGroup(groupId))!.state).toBe('Assigning');
      const members = await settle(groupId, ['a', 'b']);
      expect(members.map(({ assignment }) => idsOf(assignment.active).length)).toEqual([2, 2]);
    });

    it('say what a topology lacks, and take no other one', async () => {
      const lacking = unique('lacking');
      const [groupId, uneven] = [await named('lacks'), await named('uneven')];
      const missing = { epoch: 0, subTopologies: [sub('0', { sourceTopics: [lacking] })] };
      const told = await beat(groupId, 'a', 0, { join: { topology: missing } });
      expect(told).toMatchObject({ errorCode: 0, assignment: nothing });
      expect(statusesOf(told)).toEqual([StreamsStatus.MISSING_SOURCE_TOPICS]);
      expect(told.statuses[0]!.detail).toContain(lacking);
      expect(statusesOf(await beat(groupId, 'a', told.memberEpoch))).toEqual([StreamsStatus.MISSING_SOURCE_TOPICS]);
      expect((await beat(groupId, 'b', 0)).errorCode).toBe(42);
      expect((await beat(groupId, 'b', 0, { join: { topology: { ...missing, epoch: 1 } } })).errorCode).toBe(42);

      const wide = await createTopic(port, 'wide', 3);
      const copartitioned = sub('0', { sourceTopics: [input, wide], copartitionGroups: [[input, wide]] });
      const unlike = await beat(uneven, 'a', 0, { join: { topology: { epoch: 0, subTopologies: [copartitioned] } } });
      expect(statusesOf(unlike)).toContain(StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS);
    });

    it('pass the wish to stop on to all members', async () => {
      const { groupId, epoch } = await single('stops');
      expect(statusesOf(await beat(groupId, 'a', epoch, { shutdown: true }))).toEqual([StreamsStatus.SHUTDOWN_APPLICATION]);
      expect(statusesOf(await beat(groupId, 'b', 0))).toContain(StreamsStatus.SHUTDOWN_APPLICATION);
    });

    it('keep as many copies as the group’s settings say, beside none of the tasks', async () => {
      const groupId = await named('copies', { 'streams.num.standby.replicas': '1' });
      await beat(groupId, 'a', 0);
      await beat(groupId, 'b', 0);
      const members = await settle(groupId, ['a', 'b']);
      expect(members.flatMap(({ assignment }) => idsOf(assignment.active)).sort()).toEqual(allTasks);
      // A sub-topology without state has no copies.
      expect(members.flatMap(({ assignment }) => idsOf(assignment.standby)).sort()).toEqual(['1_0', '1_1']);
      for (const { assignment } of members) {
        expect(idsOf(assignment.active)).toHaveLength(2);
        expect(idsOf(assignment.standby).filter((task) => idsOf(assignment.active).includes(task))).toEqual([]);
      }
    });

    it('are of one kind while they have members, and of the other’s after', async () => {
      const { groupId } = await single('kinds');
      const coordinator = await coordinatorOf(groupId);
      const classic = {
        groupId,
        memberId: '',
        groupInstanceId: null,
        sessionTimeoutMs: 20_000,
        rebalanceTimeoutMs: 20_000,
        protocolType: 'consumer',
        protocols: [{ name: 'test', metadata: Buffer.alloc(0) }],
      };
      const stranger = { groupId, memberId: 'a', generation: 1, groupInstanceId: null };
      expect((await port.joinGroup(coordinator, classic)).errorCode).toBe(23);
      expect((await port.heartbeat(coordinator, stranger)).errorCode).toBe(25);
      expect((await port.leaveGroup(coordinator, stranger)).errorCode).toBe(25);
      expect(await port.admin.describeGroup(groupId)).toBeNull();
      await beat(groupId, 'a', -1);
      const { memberId } = await port.joinGroup(coordinator, classic);
      const joined = await port.joinGroup(coordinator, { ...classic, memberId });
      expect(joined).toMatchObject({ errorCode: 0, generation: 1 });
      expect((await beat(groupId, 'a', 0)).errorCode).toBe(69);
      expect(await describeGroup(groupId)).toBeNull();
      await port.leaveGroup(coordinator, { groupId, memberId, groupInstanceId: null });
      expect((await beat(groupId, 'a', 0)).errorCode).toBe(0);
    });

    it('take offsets from members: of any task under the current epoch, of kept ones under any since they were given', async () => {
      const { groupId, epoch } = await single('commits');
      const coordinator = await coordinatorOf(groupId);
      const { identity } = await begin(port, unique('tx'));
      const offsets = (partitions: readonly number[]) =>
        partitions.map((partition) => ({ topic: input, partition, offset: 1, leaderEpoch: -1, metadata: null }));
      const by = (memberId: string, generation: number) => ({ groupId, memberId, generation, groupInstanceId: null });
      const commit = async (who: ReturnType<typeof by>, ...partitions: number[]) =>
        (await port.offsetCommit(coordinator, { ...who, offsets: offsets(partitions) })).map(({ errorCode }) => errorCode);
      const commitIn = async (who: ReturnType<typeof by>, ...partitions: number[]) => {
        if (!port.transactionV2)
          await port.addOffsetsToTxn(await port.findCoordinator('transaction', identity.transactionalId), { ...identity, groupId });
        return (await port.txnOffsetCommit(coordinator, { ...identity, ...who, offsets: offsets(partitions) })).map(
          ({ errorCode }) => errorCode,
        );
      };
      for (const [send, stale] of [
        [commit, 113],
        [commitIn, 22],
      ] as const) {
        expect(await send(by('a', epoch), 0)).toEqual([0]);
        expect(await send(by('a', epoch - 1), 0)).toEqual([stale]);
        expect(await send(by('a', epoch + 1), 0)).toEqual([stale]);
        expect(await send(by('a', -1), 0)).toEqual([stale]);
        expect(await send(by('nobody', epoch), 0)).toEqual([25]);
      }
      expect(await commit({ ...by('', -1), ...outsideGroup }, 0)).toEqual([25]);
      expect(await commitIn({ ...by('', -1), ...outsideGroup }, 0)).toEqual([0]);

      await beat(groupId, 'b', 0);
      const [a, b] = await settle(groupId, ['a', 'b']);
      const partitionOf = ({ assignment }: StreamsGroupMemberDescription): number =>
        assignment.active.find(({ subTopology }) => subTopology === '0')?.partitions[0] ?? -1;
      const [kept, moved] = [partitionOf(a!), partitionOf(b!)];
      for (const [send, stale] of [
        [commit, 113],
        [commitIn, 22],
      ] as const) {
        expect(await send(by('a', epoch), kept)).toEqual([0]);
        expect(await send(by('a', epoch), moved)).toEqual([stale]);
        expect(await send(by('a', epoch), kept, moved)).toEqual([stale, stale]);
        expect(await send(by('a', a!.memberEpoch), moved)).toEqual([0]);
      }
      for (const memberId of ['a', 'b']) await beat(groupId, memberId, -1);
      expect(await commit(by('a', a!.memberEpoch), 0)).toEqual([25]);
      expect(await commit({ ...by('', -1), ...outsideGroup }, 0)).toEqual([0]);
      const read = await port.offsetFetch(coordinator, { groupId, partitions: [{ topic: input, partition: 0 }], requireStable: false });
      expect(read.offsets[0]).toMatchObject({ offset: 1, errorCode: 0 });
    });
  });
}
