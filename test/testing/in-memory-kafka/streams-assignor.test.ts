import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { assignStreamsTasks, type AssignableMember } from '../../../src/testing/in-memory-kafka/streams-assignor.js';
import { noTasks } from '../../../src/testing/in-memory-kafka/streams-tasks.js';

const group = fc.record({
  tasks: fc.integer({ min: 0, max: 12 }).map((count) => Array.from({ length: count }, (_, index) => `0_${index}`)),
  processes: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }),
  copies: fc.integer({ min: 0, max: 3 }),
});
const membersOf = (processes: readonly number[]): AssignableMember[] =>
  processes.map((process, index) => ({ memberId: `member-${index}`, processId: `process-${process}`, before: noTasks }));

describe('the tasks of a streams group', () => {
  it('are run once each, in even shares, with copies in as many other processes as there are', () => {
    fc.assert(
      fc.property(group, ({ tasks, processes, copies }) => {
        const members = membersOf(processes);
        const targets = assignStreamsTasks(tasks, members, () => copies);
        const shares = [...targets.values()];
        expect(shares.flatMap(({ active }) => [...active]).sort()).toEqual([...tasks].sort());
        const sizes = shares.map(({ active }) => active.size);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        const inAll = new Set(processes).size;
        for (const task of tasks) {
          const holders = members.filter(({ memberId }) => {
            const target = targets.get(memberId)!;
            return target.active.has(task) || target.standby.has(task);
          });
          expect(holders).toHaveLength(Math.min(inAll, copies + 1));
          expect(new Set(holders.map(({ processId }) => processId)).size).toBe(holders.length);
        }
      }),
    );
  });

  it('stay where they are while the members do', () => {
    fc.assert(
      fc.property(group, ({ tasks, processes, copies }) => {
        const members = membersOf(processes);
        const first = assignStreamsTasks(tasks, members, () => copies);
        const after = members.map((member) => ({ ...member, before: first.get(member.memberId)! }));
        expect(assignStreamsTasks(tasks, after, () => copies)).toEqual(first);
      }),
    );
  });

  it('move to a new member as far as its share goes', () => {
    const tasks = ['0_0', '0_1', '0_2', '0_3', '0_4', '0_5'];
    const [a, b, c] = membersOf([0, 1, 2]) as [AssignableMember, AssignableMember, AssignableMember];
    const first = assignStreamsTasks(tasks, [a, b], () => 0);
    const before = (member: AssignableMember) => ({ ...member, before: first.get(member.memberId) ?? noTasks });
    const then = assignStreamsTasks(tasks, [before(a), before(b), c], () => 0);
    for (const { memberId } of [a, b]) {
      expect(then.get(memberId)!.active.size).toBe(2);
      for (const task of then.get(memberId)!.active) expect(first.get(memberId)!.active).toContain(task);
    }
  });
});
