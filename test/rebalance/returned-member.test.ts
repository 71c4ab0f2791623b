import { describe, expect, it } from '@jest/globals';
import { emptyAssignment, type MemberAssignment } from '../../src/rebalance/member-assignment.js';
import { needsRebalanceAfterReturn } from '../../src/rebalance/returned-member.js';

const before = { memberId: 'old', processId: 'p', thread: 0, applicationServer: 'host:1', tags: {}, activeTasks: [], standbyTasks: [] };
const assignment: MemberAssignment = { ...emptyAssignment, liveTransactionalIds: ['app-p-0'], members: [before] };
const own = { memberId: 'new', processId: 'p', transactionalId: 'app-p-0', applicationServer: 'host:1' };

describe('a static member that came back', () => {
  it('goes on with the assignment of before when it is who it was', () => {
    expect(needsRebalanceAfterReturn(assignment, own)).toBe(false);
    expect(needsRebalanceAfterReturn(assignment, { ...own, transactionalId: null })).toBe(false);
  });

  it.each([
    ['has another disk', { processId: 'q' }],
    ['has another address', { applicationServer: 'host:2' }],
    ['has another transactional id', { transactionalId: 'app-q-0' }],
  ])('asks for a rebalance when it %s', (_, change) => {
    expect(needsRebalanceAfterReturn(assignment, { ...own, ...change })).toBe(true);
  });

  it('asks for the rebalance that the old process owed the group', () => {
    expect(needsRebalanceAfterReturn({ ...assignment, settled: false }, own)).toBe(true);
  });

  it('needs nothing once an assignment was made for it', () => {
    expect(needsRebalanceAfterReturn({ ...assignment, settled: false }, { ...own, memberId: 'old', processId: 'q' })).toBe(false);
  });
});
