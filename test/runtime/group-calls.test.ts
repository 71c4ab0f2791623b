import { describe, expect, it } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import { emptyAssignment, type MemberAssignment } from '../../src/rebalance/member-assignment.js';
import { parseTaskId } from '../../src/rebalance/task-id.js';
import { GroupCalls } from '../../src/runtime/group-calls.js';
import { deferred } from './harness/task-rig.js';

/** What a thread is told, in order. */
function rig() {
  const told: string[] = [];
  const topics = deferred();
  const note = (what: string) => (): void => void told.push(what);
  const calls = new GroupCalls({
    thread: {
      assigned: note('assigned'),
      revoke: async (tasks) => void told.push(`revoked ${tasks.length}`),
      lost: (tasks) => void told.push(`lost ${tasks.length}`),
    },
    refreshPlans: () => topics.promise,
    beforeTakingOver: note('senders'),
    takenOver: note('taken over'),
    left: (taskId) => void told.push(`left ${taskId}`),
  });
  return { told, topics, calls };
}

const tasks = ['0_0', '1_2'].map(parseTaskId);
const assignment: MemberAssignment = { ...emptyAssignment, activeTasks: tasks };

describe('an assignment', () => {
  it('is taken over once the topics are known, after those tasks that go on have heard of them', async () => {
    const { told, topics, calls } = rig();
    const taking = calls.onAssigned(assignment);
    expect(told).toEqual([]);
    topics.resolve();
    await taking;
    expect(told).toEqual(['senders', 'assigned', 'taken over']);
  });

  it('is void when the group has taken the tasks away meanwhile: others run them', async () => {
    const { told, topics, calls } = rig();
    const taking = calls.onAssigned(assignment);
    calls.onLost(tasks);
    topics.resolve();
    await taking;
    expect(told).toEqual(['lost 2']);
    await calls.onAssigned(assignment);
    expect(told).toEqual(['lost 2', 'senders', 'assigned', 'taken over']);
  });

  it('is no assignment when the leader refuses the member', async () => {
    const { told, calls } = rig();
    const code = 'MILL_TOPOLOGY_MISMATCH';
    const error = new MillraceError(code, 'another topology');
    const refused = (message: string): Promise<void> => calls.onAssigned({ ...assignment, error: { code, message } });
    await expect(refused('another topology')).rejects.toEqual(error);
    // Code and cure stand there once, whether or not the leader has told them.
    await expect(refused(error.message)).rejects.toEqual(error);
    expect(told).toEqual([]);
  });
});

describe('a revocation', () => {
  it('is over with the last commit, and then the tasks have left', async () => {
    const { told, calls } = rig();
    await calls.onRevoked(tasks);
    expect(told).toEqual(['revoked 2', 'left 0_0', 'left 1_2']);
  });
});
