import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planAssignment, planFailure, type JoinedMember, type TaskSpec } from '../../src/rebalance/assignment-plan.js';
import { defaultAssignorSettings } from '../../src/rebalance/assignor.js';
import { stickyAssignor } from '../../src/rebalance/built-in-assignors.js';
import { claimedThings } from '../../src/rebalance/releases/claimed-work.js';
import { formatTaskId, parseTaskId, type TaskId } from '../../src/rebalance/task-id.js';
import { someRelease } from './releases/some-releases.js';

const joined = (
  memberId: string,
  ownedTasks: readonly string[] = [],
  more: { generation?: number; transactionalId?: string; version?: number; isLeaving?: boolean } = {},
): JoinedMember => ({
  memberId,
  groupInstanceId: null,
  subscription: {
    version: more.version ?? 1,
    topics: ['flights'],
    processId: memberId,
    thread: 0,
    transactionalId: more.transactionalId ?? null,
    topologyFingerprint: '',
    release: null,
    lastRun: null,
    tasksWithState: [],
    applicationServer: null,
    tags: {},
    standbyTasks: [],
    caughtUpTasks: [],
    ownedTasks: ownedTasks.map(parseTaskId),
    generation: more.generation ?? (ownedTasks.length === 0 ? -1 : 1),
    nonce: '',
    isLeaving: more.isLeaving ?? false,
  },
});

const specs = (...ids: readonly string[]): TaskSpec[] =>
  ids.map((id) => {
    const task = parseTaskId(id);
    return { task, inputs: [{ topic: 'flights', partition: task.partition }], changelogs: [] };
  });

const byNumber = (_: JoinedMember, task: TaskId): string[] => [formatTaskId(task)];

const plan = (tasks: readonly TaskSpec[], ...members: readonly JoinedMember[]) =>
  planAssignment({ tasks, members, assignor: stickyAssignor });

const active = (result: ReturnType<typeof plan>, memberId: string): string[] =>
  result.assignments.get(memberId)!.activeTasks.map(formatTaskId);

describe('the leader’s plan', () => {
  it('hands out what nobody owns', () => {
    const result = plan(specs('0_0', '0_1'), joined('a'), joined('b'));
    expect([...active(result, 'a'), ...active(result, 'b')].sort()).toEqual(['0_0', '0_1']);
    expect(result.assignments.get('a')).toMatchObject({ settled: true, error: null });
  });

  it('shows Kafka’s tools the input partitions', () => {
    expect(plan(specs('0_3'), joined('a')).assignments.get('a')?.partitions).toEqual([{ topic: 'flights', partition: 3 }]);
  });

  it('tells everybody who runs what', () => {
    const { assignments } = plan(specs('0_0', '0_1'), joined('b'), joined('a', ['0_0', '0_1']));
    const members = assignments.get('a')!.members;
    expect(assignments.get('b')!.members).toEqual(members);
    expect(members.map(({ memberId }) => memberId)).toEqual(['a', 'b']);
    expect(members.map(({ activeTasks }) => activeTasks.length)).toEqual([1, 0]);
    expect(members[0]).toMatchObject({ processId: 'a', thread: 0, applicationServer: null, tags: {}, standbyTasks: [] });
  });

  it('withholds a task until its owner has given it up, then hands it over', () => {
    const first = plan(specs('0_0', '0_1'), joined('a', ['0_0', '0_1']), joined('b'));
    expect(active(first, 'a')).toHaveLength(1);
    expect(active(first, 'b')).toEqual([]);
    expect(first.withheld).toHaveLength(1);
    expect(first.assignments.get('b')?.settled).toBe(false);

    const second = plan(specs('0_0', '0_1'), joined('a', active(first, 'a')), joined('b'));
    expect(active(second, 'b')).toEqual(first.withheld.map(formatTaskId));
    expect(second.assignments.get('a')?.settled).toBe(true);
  });

  it('takes everything from a member that leaves, and gives it to the others when it has let go', () => {
    const leaving = plan(specs('0_0', '0_1'), joined('a', ['0_0']), joined('b', ['0_1'], { isLeaving: true }));
    expect([active(leaving, 'a'), active(leaving, 'b')]).toEqual([['0_0'], []]);
    expect(leaving.withheld.map(formatTaskId)).toEqual(['0_1']);
    expect(leaving.assignments.get('a')?.settled).toBe(false);
    expect(active(plan(specs('0_0', '0_1'), joined('a', ['0_0'])), 'a')).toEqual(['0_0', '0_1']);
    // When nobody stays there is nobody to wait for.
    const all = plan(specs('0_0'), joined('a', ['0_0'], { isLeaving: true }), joined('b', [], { isLeaving: true }));
    expect([active(all, 'a'), active(all, 'b'), all.withheld]).toEqual([[], [], []]);
  });

  it('gives a copy to the target of a task with state while its owner gives it up, and none beside the owner', () => {
    const stateful = specs('0_0', '0_1').map((spec) => ({ ...spec, changelogs: [{ topic: 'log', partition: spec.task.partition }] }));
    const settings = { ...defaultAssignorSettings, numStandbyReplicas: 1 };
    const result = planAssignment({
      tasks: stateful,
      members: [joined('a', ['0_0', '0_1']), joined('b')],
      assignor: stickyAssignor,
      settings,
    });
    const copies = (memberId: string): string[] => result.assignments.get(memberId)!.standbyTasks.map(formatTaskId).sort();
    expect(result.withheld).toHaveLength(1);
    // Of the task that stays it keeps the copy, of the one that comes it has one early; the old owner still has the database of that open.
    expect(copies('b')).toEqual(['0_0', '0_1']);
    expect(copies('a')).toEqual([]);
    expect(result.assignments.get('a')!.members[1]!.standbyTasks).toHaveLength(2);
  });

  it('believes the claim of the later generation', () => {
    const result = plan(specs('0_0', '0_1'), joined('a', ['0_0'], { generation: 3 }), joined('b', ['0_0', '0_1'], { generation: 5 }));
    expect(active(result, 'a')).not.toContain('0_0');
  });

  it('gives a task that two members claim with equal right to neither', () => {
    const result = plan(specs('0_0'), joined('a', ['0_0']), joined('b', ['0_0']));
    expect([...active(result, 'a'), ...active(result, 'b')]).toEqual([]);
    expect(result.withheld.map(formatTaskId)).toEqual(['0_0']);
  });

  it('gives nothing to a member that is refused or not understood, and tells it why', () => {
    const foreign: JoinedMember = { memberId: 'x', groupInstanceId: null, subscription: null };
    const refused = new Map([['old', { code: 'MILL_TOPOLOGY_INVALID', message: 'another topology' }]]);
    const result = planAssignment({
      tasks: specs('0_0'),
      members: [joined('a'), joined('old'), foreign],
      assignor: stickyAssignor,
      refused,
    });
    expect(active(result, 'a')).toEqual(['0_0']);
    expect(result.assignments.get('old')).toMatchObject({ activeTasks: [], error: { code: 'MILL_TOPOLOGY_INVALID' } });
    expect(active(result, 'x')).toEqual([]);
  });

  it('names the transactional ids that are alive, and the lowest version', () => {
    const { assignments } = plan(
      specs('0_0'),
      joined('a', [], { transactionalId: 't2' }),
      joined('b', [], { transactionalId: 't1', version: 0 }),
    );
    expect(assignments.get('b')).toMatchObject({ liveTransactionalIds: ['t1', 't2'], version: 0 });
  });

  it('of a failure leaves everything where it runs and tells everybody', () => {
    const error = { code: 'MILL_TOPIC_MISSING', message: 'no topic "flights"' };
    const { assignments } = planFailure([joined('a', ['0_0']), joined('b')], error, byNumber, () => []);
    expect(assignments.get('a')).toMatchObject({ activeTasks: [parseTaskId('0_0')], error });
    expect(assignments.get('b')).toMatchObject({ activeTasks: [], error });
  });

  describe('of a failure among members with two releases', () => {
    const error = { code: 'MILL_APPLICATION_SHUTDOWN', message: 'stop' };
    const releases = new Map([
      ['first', someRelease('first')],
      ['shifted', someRelease('withPartInFront')],
    ]);
    const failed = (...members: readonly JoinedMember[]) =>
      planFailure(
        members,
        error,
        (member, task) => claimedThings(member, releases.get(member.memberId) ?? null, task),
        () => [],
      );

    it('equal numbers of different work don’t contest each other', () => {
      // What is 0 to the first is 1 to the other.
      const result = failed(joined('first', ['0_0']), joined('shifted', ['0_0', '1_1']), joined('unknown', ['0_0', '1_1']));
      expect(active(result, 'first')).toEqual(['0_0']);
      expect(active(result, 'shifted')).toEqual(['0_0', '1_1']);
      expect(active(result, 'unknown')).toEqual(['0_0', '1_1']);
    });

    it('the same work under two numbers is claimed by the later generation, or by nobody', () => {
      const late = failed(joined('first', ['0_0']), joined('shifted', ['1_0'], { generation: 2 }));
      expect([active(late, 'first'), active(late, 'shifted')]).toEqual([[], ['1_0']]);
      const equal = failed(joined('first', ['0_0']), joined('shifted', ['1_0']));
      expect([active(equal, 'first'), active(equal, 'shifted')]).toEqual([[], []]);
    });

    it('nobody is told of tasks by the numbers of another release', () => {
      const withRelease = (member: JoinedMember): JoinedMember => ({
        ...member,
        subscription: { ...member.subscription!, release: releases.get(member.memberId) ?? null },
      });
      const told = failed(withRelease(joined('first', ['0_0'])), withRelease(joined('shifted', ['0_0']))).assignments.get('first')!.members;
      expect(told.map(({ memberId, activeTasks }) => [memberId, activeTasks.map(formatTaskId)])).toEqual([
        ['first', ['0_0']],
        ['shifted', []],
      ]);
    });
  });
});

describe('after any change of membership', () => {
  const changes = fc.record({
    tasks: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 3 }),
    before: fc.integer({ min: 1, max: 5 }),
    gone: fc.integer({ min: 0, max: 4 }),
    added: fc.integer({ min: 0, max: 4 }),
  });

  it('at most two rebalances lead to a plan that changes nothing', () => {
    fc.assert(
      fc.property(changes, ({ tasks: counts, before, gone, added }) => {
        const tasks = specs(...counts.flatMap((count, sub) => Array.from({ length: count }, (_, partition) => `${sub}_${partition}`)));
        const settle = (owned: Map<string, string[]>): Map<string, string[]> => {
          const result = plan(tasks, ...[...owned].map(([id, mine]) => joined(id, mine)));
          return new Map([...owned.keys()].map((id) => [id, active(result, id)]));
        };
        let owned = settle(new Map(Array.from({ length: before }, (_, i) => [`m${i}`, []])));
        for (let i = 0; i < Math.min(gone, before - 1); i++) owned.delete(`m${i}`);
        for (let i = 0; i < added; i++) owned.set(`n${i}`, []);
        owned = settle(settle(owned));
        expect([...owned.values()].flat().sort()).toEqual(tasks.map(({ task }) => formatTaskId(task)).sort());
        expect(settle(owned)).toEqual(owned);
      }),
    );
  });
});
