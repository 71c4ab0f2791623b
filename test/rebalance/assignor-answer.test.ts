import { describe, expect, it } from '@jest/globals';
import { checkedTarget } from '../../src/rebalance/assignor-answer.js';
import type { AssignorInput, MemberTarget, TargetAssignment } from '../../src/rebalance/assignor.js';
import { member, settings, task } from './assignor-situations.js';

const [one, two, plain] = [task('0_0'), task('0_1'), task('1_0', null, false)];
const input: AssignorInput = {
  tasks: [one, two, plain],
  members: [member({ id: 'a' }), member({ id: 'b' }), member({ id: 'a2', process: 'a' })],
  settings: settings(),
};

function faultsOf(answer: Record<string, MemberTarget>): unknown {
  try {
    checkedTarget({ name: 'own', assign: () => new Map(Object.entries(answer)) }, input);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'MILL_ASSIGNOR_INVALID' });
    return (error as { details: { faults: unknown } }).details.faults;
  }
}

describe('the answer of an assignor', () => {
  it('is taken when each task runs once', () => {
    expect(faultsOf({ a: { active: [one, plain] }, b: { active: [two], standby: [one] } })).toEqual([]);
  });

  it.each<[string, Record<string, MemberTarget>]>([
    ['task 0_1 is active nowhere', { a: { active: [one, plain] } }],
    ['task 0_0 is active twice', { a: { active: [one, plain] }, b: { active: [two, one] } }],
    ['there is no task 7_7', { a: { active: [one, two, plain, { subTopology: 7, partition: 7 }] } }],
    ['there is no member x', { a: { active: [one, two, plain] }, x: { active: [] } }],
    ['task 1_0 has no state to copy', { a: { active: [one, two, plain] }, b: { active: [], standby: [plain] } }],
    ['the copy of task 0_0 is in the process that runs it', { a: { active: [one, two, plain] }, a2: { active: [], warmup: [one] } }],
    [
      'task 0_0 is copied twice in one process',
      { a: { active: [] }, b: { active: [one, two, plain] }, a2: { active: [], warmup: [one], standby: [one] } },
    ],
    ['member a has no list of active tasks', { a: {} as MemberTarget, b: { active: [one, two, plain] } }],
  ])('is refused: %s', (fault, answer) => {
    expect(faultsOf(answer)).toEqual([fault]);
  });

  it('must be a map, and come', () => {
    const check =
      (assign: () => TargetAssignment): (() => unknown) =>
      () =>
        checkedTarget({ name: 'own', assign }, input);
    expect(check(() => ({}) as TargetAssignment)).toThrow(
      'The assignor "own" gave an answer that can\'t be used: the answer is not a Map.',
    );
    const failing = check(() => {
      throw new TypeError('oh');
    });
    expect(failing).toThrow('The assignor "own" failed: TypeError: oh');
  });
});
