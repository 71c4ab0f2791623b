import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareTaskIds, parseTaskId, type TaskId } from '../../src/rebalance/task-id.js';
import { decodeTaskSet, encodeTaskSet } from '../../src/rebalance/task-set-codec.js';

describe('a set of tasks as text', () => {
  it('names runs of partitions by their ends', () => {
    const tasks = ['1_4', '0_0', '0_2', '0_1', '11_5', '0_7', '1_5'].map(parseTaskId);
    expect(encodeTaskSet(tasks)).toBe('0:0-2,7;1:4-5;11:5');
    expect(encodeTaskSet([])).toBe('');
  });

  it('comes back, in order', () => {
    const sets = fc.uniqueArray(fc.record({ subTopology: fc.nat(12), partition: fc.nat(30) }), {
      selector: ({ subTopology, partition }: TaskId) => `${subTopology}_${partition}`,
    });
    fc.assert(fc.property(sets, (tasks) => expect(decodeTaskSet(encodeTaskSet(tasks))).toEqual([...tasks].sort(compareTaskIds))));
  });

  it.each(['x', '0', '0:', '0:1-', '0:a', ';'])('is refused when it reads %p', (text) => {
    expect(() => decodeTaskSet(text)).toThrow('is not a');
  });
});
