import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkedTarget } from '../../src/rebalance/assignor-answer.js';
import type { AssignorInput, AssignorMember, AssignorTask } from '../../src/rebalance/assignor.js';
import { rangeAssignor, stickyAssignor } from '../../src/rebalance/built-in-assignors.js';
import { member, roundsToSettle, settings, settled, shares, situations, task, tasks, type Shares } from './assignor-situations.js';

const assign = (
  given: readonly AssignorTask[],
  members: readonly AssignorMember[],
  options: Parameters<typeof settings>[0] = {},
): Record<string, Shares> => shares(stickyAssignor.assign({ tasks: given, members, settings: settings(options) }));

describe('copies of state', () => {
  it('go to as many other processes as asked for, or as there are', () => {
    const members = [member({ id: 'a' }), member({ id: 'b' }), member({ id: 'c' })];
    const copies = (replicas: number): number =>
      Object.values(assign(tasks(6), members, { numStandbyReplicas: replicas })).flatMap(({ standby }) => standby).length;
    expect([0, 1, 2, 5].map(copies)).toEqual([0, 6, 12, 12]);
  });

  it('are of tasks with state alone', () => {
    const { a, b } = assign([task('0_0', 10, false), task('1_0')], [member({ id: 'a' }), member({ id: 'b' })], { numStandbyReplicas: 1 });
    expect([...a!.standby, ...b!.standby]).toEqual(['1_0']);
  });

  it('stay where the state is', () => {
    const members = [
      member({ id: 'a', owns: ['0_0'], state: { '0_0': 1000 } }),
      member({ id: 'b' }),
      member({ id: 'c', state: { '0_0': 990 }, copies: ['0_0'] }),
    ];
    expect(assign(tasks(1), members, { numStandbyReplicas: 1 }).c!.standby).toEqual(['0_0']);
  });

  it('take the place of the task when its owner is gone', () => {
    const members = [member({ id: 'b' }), member({ id: 'c', state: { '0_0': 990 }, copies: ['0_0'] })];
    const target = assign(tasks(1), members, { numStandbyReplicas: 1 });
    expect(target.c!.active).toEqual(['0_0']);
    expect(target.b!.standby).toEqual(['0_0']);
  });

  it('go into another zone than the task, before loads are even', () => {
    const zone = (id: string, name: string, owns: readonly string[] = []): AssignorMember => member({ id, owns, tags: { zone: name } });
    const members = [zone('a', 'east', ['0_0']), zone('b', 'east', ['0_1']), zone('c', 'east', ['0_2']), zone('d', 'west', ['0_3'])];
    const target = assign(tasks(4), members, { numStandbyReplicas: 1, rackAwareTags: ['zone'] });
    expect(target.d!.standby).toEqual(['0_0', '0_1', '0_2']);
  });

  it('of one task go into different zones', () => {
    const zone = (id: string, name: string, owns: readonly string[] = []): AssignorMember => member({ id, owns, tags: { zone: name } });
    const members = [zone('a', '1', ['0_0']), zone('b', '2'), zone('c', '2'), zone('d', '3')];
    const target = assign(tasks(1), members, { numStandbyReplicas: 2, rackAwareTags: ['zone'] });
    expect(target.d!.standby).toEqual(['0_0']);
    expect([...target.b!.standby, ...target.c!.standby]).toEqual(['0_0']);
  });

  it('of 1000 tasks are placed on 30 processes in good time', () => {
    const members = Array.from({ length: 30 }, (_, index) => member({ id: `m${index}` }));
    const input: AssignorInput = { tasks: tasks(1000, null), members, settings: settings({ numStandbyReplicas: 1 }) };
    const started = performance.now();
    const target = stickyAssignor.assign(input);
    stickyAssignor.assign(settled(input, target));
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

describe('a task with much to restore', () => {
  const running = member({ id: 'a', owns: ['0_0', '0_1'], state: { '0_0': 1000, '0_1': 1000 } });

  it('stays where it runs while a copy warms up at the new instance', () => {
    const { a, b } = assign(tasks(2), [running, member({ id: 'b' })]);
    expect(a!.active).toEqual(['0_0', '0_1']);
    expect(b!.active).toEqual([]);
    expect(b!.warmup).toHaveLength(1);
  });

  it('moves once the copy has caught up', () => {
    const target = assign(tasks(2), [running, member({ id: 'b', copies: ['0_1'], state: { '0_1': 901 } })]);
    expect(target.b).toEqual({ active: ['0_1'], standby: [], warmup: [] });
  });

  it('moves when the copy says that it has caught up, although the changelog has grown since', () => {
    const target = assign(tasks(2, 5000), [running, member({ id: 'b', copies: ['0_1'], ready: ['0_1'], state: { '0_1': 901 } })]);
    expect(target.b).toEqual({ active: ['0_1'], standby: [], warmup: [] });
  });

  it('moves at once when it has little, or nobody has caught up', () => {
    expect(assign(tasks(2, 100), [running, member({ id: 'b' })]).b!.active).toHaveLength(1);
    expect(assign(tasks(2), [member({ id: 'a', state: { '0_0': 3 } }), member({ id: 'b' })]).b!.active).toHaveLength(1);
  });

  it('runs meanwhile at an instance that has caught up, however full that is', () => {
    const members = [member({ id: 'a', owns: ['0_0'], copies: ['0_1'], state: { '0_0': 1000, '0_1': 950 } }), member({ id: 'b' })];
    const target = assign(tasks(2), members);
    expect(target.a!.active).toEqual(['0_0', '0_1']);
    expect(target.b!.warmup).toHaveLength(1);
  });

  it('waits its turn: so many warm up at a time, those under way first', () => {
    const full = member({ id: 'a', owns: tasks(6).map(({ partition }) => `0_${partition}`) });
    const fresh = assign(tasks(6), [full, member({ id: 'b' })], { maxWarmupReplicas: 2 });
    expect(fresh.b!.warmup).toHaveLength(2);
    const going = assign(tasks(6), [full, member({ id: 'b', copies: ['0_4'], state: { '0_2': 800, '0_4': 300 } })], {
      maxWarmupReplicas: 1,
    });
    expect(going.b!.warmup).toEqual(['0_4']);
  });
});

describe('ranges', () => {
  const instances = (count: number): AssignorMember[] =>
    Array.from({ length: count }, (_, index) => member({ id: `m${index}`, instance: `app-${index}` }));
  const rangesOf = (count: number, partitions: number): string[][] =>
    Object.values(shares(rangeAssignor.assign({ tasks: tasks(partitions, 0), members: instances(count), settings: settings() }))).map(
      ({ active }) => [...active],
    );

  it('are those of Flink’s key groups: from 3 to 4 instances, of 12 groups, number 6 moves from instance 1 to 2', () => {
    expect(rangesOf(3, 12)[1]).toContain('0_6');
    expect(rangesOf(4, 12)[2]).toContain('0_6');
    expect(rangesOf(4, 12).map((range) => range.length)).toEqual([3, 3, 3, 3]);
  });

  it('follow the numbers in instance ids', () => {
    const members = [member({ id: 'x', instance: 'app-10' }), member({ id: 'y', instance: 'app-9' }), member({ id: 'z' })];
    const target = shares(rangeAssignor.assign({ tasks: tasks(3, 0), members, settings: settings() }));
    expect([target.y!.active, target.x!.active, target.z!.active]).toEqual([['0_0'], ['0_1'], ['0_2']]);
  });

  it('may be empty', () => {
    expect(rangesOf(3, 1).flat()).toEqual(['0_0']);
  });
});

describe.each([stickyAssignor, rangeAssignor])('for any group the $name assignor', (assignor) => {
  it('gives an answer that keeps the rules: every task runs once, copies are never beside it and never twice in a process', () => {
    fc.assert(fc.property(situations, (input) => void checkedTarget(assignor, input)));
  });

  it('has no more warm-ups than allowed', () => {
    fc.assert(
      fc.property(situations, (input) => {
        const warmups = Object.values(shares(assignor.assign(input))).flatMap(({ warmup }) => warmup);
        expect(warmups.length).toBeLessThanOrEqual(input.settings.maxWarmupReplicas);
      }),
    );
  });

  it('has as many copies as asked for, or as there are processes', () => {
    fc.assert(
      fc.property(situations, (input) => {
        const all = Object.values(shares(assignor.assign(input)));
        const processes = new Set(input.members.map(({ processId }) => processId)).size;
        for (const one of input.tasks.filter(({ stateful }) => stateful)) {
          const id = `${one.subTopology}_${one.partition}`;
          const count = (of: keyof Shares): number => all.filter((share) => share[of].includes(id)).length;
          const wanted = Math.min(input.settings.numStandbyReplicas, processes - 1);
          expect(count('standby') + count('warmup')).toBeGreaterThanOrEqual(wanted);
          expect(count('standby')).toBeLessThanOrEqual(wanted);
        }
      }),
    );
  });

  it('comes to rest when members do as they are told, with nothing left to warm up, and then changes nothing', () => {
    fc.assert(
      fc.property(situations, (input) => {
        expect(roundsToSettle(assignor, input)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('does not depend on the order of its input', () => {
    fc.assert(
      fc.property(situations, (input) => {
        const reversed = { ...input, tasks: [...input.tasks].reverse(), members: [...input.members].reverse() };
        expect(shares(assignor.assign(reversed))).toEqual(shares(assignor.assign(input)));
      }),
    );
  });
});

describe('copies by the sticky assignor, without racks', () => {
  it('leave processes of one member within one task of each other, running and copied, when all is at rest', () => {
    const inputs = fc.record({
      partitions: fc.integer({ min: 1, max: 12 }),
      count: fc.integer({ min: 2, max: 5 }),
      replicas: fc.integer({ min: 1, max: 2 }),
    });
    fc.assert(
      fc.property(inputs, ({ partitions, count, replicas }) => {
        const members = Array.from({ length: count }, (_, index) => member({ id: `m${index}` }));
        const target = stickyAssignor.assign({
          tasks: tasks(partitions, 0),
          members,
          settings: settings({ numStandbyReplicas: replicas }),
        });
        const loads = Object.values(shares(target)).map(({ active, standby }) => active.length + standby.length);
        expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('move only with need: nothing when a member without a copy of anything leaves and comes back', () => {
    const inputs = fc.record({ partitions: fc.integer({ min: 1, max: 12 }), count: fc.integer({ min: 2, max: 5 }) });
    fc.assert(
      fc.property(inputs, ({ partitions, count }) => {
        const first: AssignorInput = {
          tasks: tasks(partitions),
          members: Array.from({ length: count }, (_, index) => member({ id: `m${index}` })),
          settings: settings({ numStandbyReplicas: 1 }),
        };
        const target = stickyAssignor.assign(first);
        expect(shares(stickyAssignor.assign(settled(first, target)))).toEqual(shares(target));
      }),
    );
  });
});
