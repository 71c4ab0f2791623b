import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AssignorMember } from '../../src/rebalance/assignor.js';
import { StateBook } from '../../src/rebalance/state-book.js';
import { placeSticky } from '../../src/rebalance/sticky-placement.js';
import { compareTaskIds, formatTaskId, parseTaskId, type TaskId } from '../../src/rebalance/task-id.js';

const tasksOf = (...partitions: readonly number[]): TaskId[] =>
  partitions.flatMap((count, subTopology) => Array.from({ length: count }, (_, partition) => ({ subTopology, partition })));

type Placed = ReadonlyMap<string, readonly TaskId[]>;

/** Every task has state, and nobody is behind for all that is known. */
function place(tasks: readonly TaskId[], members: readonly AssignorMember[]): Placed {
  const sorted = [...tasks].sort(compareTaskIds).map((task) => ({ ...task, stateful: true, endOffsetSum: null }));
  const order = ({ processId, memberId }: AssignorMember): string => `${processId} ${memberId}`;
  return placeSticky(
    sorted,
    new StateBook(
      [...members].sort((a, b) => (order(a) < order(b) ? -1 : 1)),
      10_000,
    ),
  );
}

interface Given {
  readonly id: string;
  readonly process?: string;
  readonly owns?: readonly string[];
  readonly state?: Readonly<Record<string, number>>;
}

const member = ({ id, process = id, owns = [], state = {} }: Given): AssignorMember => ({
  memberId: id,
  groupInstanceId: null,
  processId: process,
  tags: {},
  standbyTasks: [],
  caughtUpTasks: [],
  ownedTasks: owns.map(parseTaskId),
  tasksWithState: Object.entries(state).map(([task, offsetSum]) => ({ task: parseTaskId(task), offsetSum })),
});

const assign = (tasks: readonly TaskId[], members: readonly AssignorMember[]): Record<string, readonly string[]> =>
  Object.fromEntries([...place(tasks, members)].map(([id, assigned]) => [id, assigned.map(formatTaskId).sort()]));

describe('the sticky assignor', () => {
  it('spreads every sub-topology', () => {
    const { a = [], b = [] } = assign(tasksOf(2, 2), [member({ id: 'a' }), member({ id: 'b' })]);
    expect([a, b].map((tasks) => tasks.map((task) => task[0]))).toEqual([
      ['0', '1'],
      ['0', '1'],
    ]);
  });

  it('sends a task to the process that has its state', () => {
    const members = [member({ id: 'a', state: { '0_1': 10, '0_3': 10 } }), member({ id: 'b', state: { '0_0': 10, '0_2': 10 } })];
    expect(assign(tasksOf(4), members)).toEqual({ a: ['0_1', '0_3'], b: ['0_0', '0_2'] });
  });

  it('prefers the state that is restored further', () => {
    const members = [member({ id: 'a', state: { '0_0': 10, '0_1': 99 } }), member({ id: 'b', state: { '0_0': 99, '0_1': 10 } })];
    expect(assign(tasksOf(2), members)).toEqual({ a: ['0_1'], b: ['0_0'] });
  });

  it('gives a restarted process its tasks back rather than leave them where they have no state', () => {
    const members = [member({ id: 'a', state: { '0_0': 5, '0_2': 5 } }), member({ id: 'b', owns: ['0_1', '0_3'] })];
    expect(assign(tasksOf(4), members)).toEqual({ a: ['0_0', '0_2'], b: ['0_1', '0_3'] });
  });

  it('counts balance over threads, and then over processes', () => {
    const members = [
      member({ id: 'a0', process: 'a', state: { '0_0': 1, '0_1': 1, '0_2': 1 } }),
      member({ id: 'a1', process: 'a' }),
      member({ id: 'b0', process: 'b' }),
      member({ id: 'b1', process: 'b' }),
      member({ id: 'c', process: 'c' }),
    ];
    const few = assign(tasksOf(2), members);
    expect([...(few.a0 ?? []), ...(few.a1 ?? [])]).toHaveLength(1);
    const many = assign(tasksOf(10), members);
    expect(Object.values(many).map((share) => share.length)).toEqual([2, 2, 2, 2, 2]);
  });

  it('moves a task to another thread of its process before it moves it elsewhere', () => {
    const members = [
      member({ id: 'a0', process: 'a', owns: ['0_0', '0_1'] }),
      member({ id: 'a1', process: 'a' }),
      member({ id: 'b', owns: ['0_2'] }),
    ];
    expect(assign(tasksOf(3), members).b).toEqual(['0_2']);
  });

  it('takes from a member no more than the new one gets', () => {
    const members = [
      member({ id: 'a', owns: ['0_0', '0_1', '0_2'] }),
      member({ id: 'b', owns: ['0_3', '0_4', '0_5'] }),
      member({ id: 'c' }),
    ];
    const target = assign(tasksOf(6), members);
    expect(['0_0', '0_1', '0_2'].filter((task) => target.a?.includes(task))).toHaveLength(2);
    expect(['0_3', '0_4', '0_5'].filter((task) => target.b?.includes(task))).toHaveLength(2);
  });

  it('leaves members without a task when there are too few', () => {
    const target = assign(tasksOf(1), [member({ id: 'a' }), member({ id: 'b' })]);
    expect(Object.values(target).flat()).toEqual(['0_0']);
  });

  it('does not depend on the order of its input', () => {
    const members = [member({ id: 'a', owns: ['0_0', '0_1'] }), member({ id: 'b' }), member({ id: 'c', state: { '1_0': 3 } })];
    expect(assign(tasksOf(3, 2).reverse(), [...members].reverse())).toEqual(assign(tasksOf(3, 2), members));
  });

  it('assigns 2000 tasks to 50 members in good time', () => {
    const members = Array.from({ length: 50 }, (_, i) => member({ id: `m${i}` }));
    const tasks = tasksOf(1000, 1000);
    const before = place(tasks, members);
    const moved = members.slice(1).map((known) => ({ ...known, ownedTasks: before.get(known.memberId)! }));
    const started = performance.now();
    place(tasks, moved);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

const situations = fc
  .record({
    partitions: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
    processes: fc.array(fc.constantFrom('p', 'q', 'r'), { minLength: 1, maxLength: 5 }),
    owners: fc.array(fc.integer({ min: -1, max: 4 }), { minLength: 18, maxLength: 18 }),
    states: fc.array(fc.tuple(fc.nat(4), fc.nat(17), fc.nat(3)), { maxLength: 12 }),
  })
  .map(({ partitions, processes, owners, states }) => {
    const tasks = tasksOf(...partitions);
    const members = processes.map((processId, i): AssignorMember => ({
      memberId: `m${i}`,
      groupInstanceId: null,
      processId,
      tags: {},
      standbyTasks: [],
      caughtUpTasks: [],
      ownedTasks: tasks.filter((_, t) => owners[t] === i),
      tasksWithState: states.flatMap(([m, t, offsetSum]) => (m === i && tasks[t] !== undefined ? [{ task: tasks[t], offsetSum }] : [])),
    }));
    return { tasks, members };
  });

describe('for any tasks and members the sticky assignor', () => {
  it('assigns every task exactly once', () => {
    fc.assert(
      fc.property(situations, ({ tasks, members }) => {
        const assigned = [...place(tasks, members).values()].flat().map(formatTaskId).sort();
        expect(assigned).toEqual(tasks.map(formatTaskId).sort());
      }),
    );
  });

  it('keeps members within one task of each other, in total and within each sub-topology, and processes at the share of their threads', () => {
    fc.assert(
      fc.property(situations, ({ tasks, members }) => {
        const target = place(tasks, members);
        expect(isBalanced(tasks, members, target)).toBe(true);
      }),
    );
  });

  it('changes nothing that is balanced', () => {
    fc.assert(
      fc.property(situations, ({ tasks, members }) => {
        const target = place(tasks, members);
        const settled = members.map((known) => ({ ...known, ownedTasks: target.get(known.memberId)! }));
        expect(place(tasks, settled)).toEqual(target);
      }),
    );
  });

  it('finds the cheapest of all balanced assignments', () => {
    const small = situations.filter(({ tasks, members }) => tasks.length <= 6 && members.length <= 3);
    fc.assert(
      fc.property(small, ({ tasks, members }) => {
        const cheapest = Math.min(...everyBalanced(tasks, members).map((target) => price(tasks, members, target)));
        expect(price(tasks, members, place(tasks, members))).toBe(cheapest);
      }),
      { numRuns: 200 },
    );
  });

  it('moves, of one sub-topology, only what has to move when a member joins or leaves', () => {
    const inputs = fc.record({ partitions: fc.integer({ min: 1, max: 24 }), count: fc.integer({ min: 1, max: 7 }), leaver: fc.nat(6) });
    fc.assert(
      fc.property(inputs, ({ partitions, count, leaver }) => {
        const tasks = tasksOf(partitions);
        const ids = Array.from({ length: count }, (_, i) => `m${i}`);
        const first = place(
          tasks,
          ids.map((id) => member({ id })),
        );
        const running = ids.map((id) => ({ ...member({ id }), ownedTasks: first.get(id)! }));

        const joined = place(tasks, [...running, member({ id: 'new' })]);
        expect(movedTasks(running, joined)).toBe(joined.get('new')!.length);

        const rest = running.filter((_, i) => i !== leaver % count);
        if (rest.length > 0) expect(movedTasks(rest, place(tasks, rest))).toBe(0);
      }),
    );
  });
});

function movedTasks(before: readonly AssignorMember[], target: Placed): number {
  return before.flatMap(({ memberId, ownedTasks }) =>
    ownedTasks.filter((task) => !target.get(memberId)!.map(formatTaskId).includes(formatTaskId(task))),
  ).length;
}

function isBalanced(tasks: readonly TaskId[], members: readonly AssignorMember[], target: Placed): boolean {
  const shares = [...target.values()];
  const even = (counts: readonly number[]): boolean => Math.max(...counts) - Math.min(...counts) <= 1;
  const subTopologies = new Set(tasks.map((task) => task.subTopology));
  const fits = (processId: string): boolean => {
    const own = members.filter((one) => one.processId === processId);
    const count = own.reduce((sum, { memberId }) => sum + target.get(memberId)!.length, 0);
    return Math.abs(count - (tasks.length * own.length) / members.length) < 1;
  };
  return (
    members.every(({ processId }) => fits(processId)) &&
    even(shares.map((share) => share.length)) &&
    [...subTopologies].every((id) => even(shares.map((share) => share.filter((task) => task.subTopology === id).length)))
  );
}

/** The slow reference: all ways to deal the tasks. */
function everyBalanced(tasks: readonly TaskId[], members: readonly AssignorMember[]): Placed[] {
  let deals: TaskId[][][] = [members.map(() => [])];
  for (const task of tasks) {
    deals = deals.flatMap((deal) => members.map((_, taker) => deal.map((share, i) => (i === taker ? [...share, task] : share))));
  }
  return deals
    .map((deal) => new Map(members.map(({ memberId }, i) => [memberId, deal[i]!])))
    .filter((target) => isBalanced(tasks, members, target));
}

/** Tasks without state first, then running tasks moved, then state that is not the furthest. */
function price(tasks: readonly TaskId[], members: readonly AssignorMember[], target: Placed): number {
  const unit = tasks.length + 1;
  let total = 0;
  for (const taker of members) {
    for (const task of target.get(taker.memberId)!) {
      const is = (other: TaskId): boolean => formatTaskId(other) === formatTaskId(task);
      const owner = members.find((candidate) => candidate.ownedTasks.some(is));
      if (owner === taker) continue;
      const offsets = (processId: string): number[] =>
        members
          .filter((candidate) => candidate.processId === processId)
          .flatMap((candidate) => [
            ...(candidate.ownedTasks.some(is) ? [Infinity] : []),
            ...candidate.tasksWithState.filter(({ task: other }) => is(other)).map(({ offsetSum }) => offsetSum),
          ]);
      const here = offsets(taker.processId);
      const furthest = Math.max(...members.flatMap(({ processId }) => offsets(processId)));
      if (owner !== undefined) total += unit;
      if (here.length === 0) total += unit * unit;
      else if (Math.max(...here) < furthest) total += 1;
    }
  }
  return total;
}
