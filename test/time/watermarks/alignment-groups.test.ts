import { describe, expect, it } from '@jest/globals';
import { AlignmentGroups, type AlignedPartition } from '../../../src/time/watermarks/alignment.js';

const at = (
  watermark: number,
  options: { readonly idle?: boolean; readonly group?: string; readonly id?: number } = {},
): AlignedPartition => ({
  group: options.group ?? null,
  maxDrift: 100,
  member: { id: options.id ?? 0, watermark, idle: options.idle ?? false },
});

describe('alignment across the tasks of an instance', () => {
  it('has the partitions of a fast task wait for a slow one of the same sub-topology', () => {
    const groups = new AlignmentGroups();
    const [slow, fast] = [groups.of('0_0', '0'), groups.of('0_1', '0')];
    expect(slow.tooFarAhead([at(10)])).toEqual([]);
    expect(fast.tooFarAhead([at(111, { id: 0 }), at(110, { id: 1 })])).toEqual([0]);
    expect(slow.tooFarAhead([at(50)])).toEqual([]);
    expect(fast.tooFarAhead([at(111)])).toEqual([]);
  });

  it('does not have other sub-topologies wait, but for those of a named group', () => {
    const groups = new AlignmentGroups();
    groups.of('0_0', '0').tooFarAhead([at(10), at(10, { group: 'orders', id: 1 })]);
    expect(groups.of('1_0', '1').tooFarAhead([at(500), at(500, { group: 'orders', id: 1 })])).toEqual([1]);
  });

  it('waits for no task that is idle, has no watermark yet, or was closed', () => {
    const groups = new AlignmentGroups();
    groups.of('0_0', '0').tooFarAhead([at(10, { idle: true })]);
    groups.of('0_1', '0').tooFarAhead([at(-Infinity)]);
    groups.of('0_2', '0').tooFarAhead([]);
    const gone = groups.of('0_3', '0');
    gone.tooFarAhead([at(10)]);
    const fast = groups.of('0_4', '0');
    expect(fast.tooFarAhead([at(500)])).toEqual([0]);
    gone.close();
    expect(fast.tooFarAhead([at(500)])).toEqual([]);
  });

  it('always lets the slowest go on', () => {
    const groups = new AlignmentGroups();
    const tasks = [300, 200, 700].map((watermark, i) => ({ watermark, alignment: groups.of(`0_${i}`, '0') }));
    for (const { watermark, alignment } of tasks) alignment.tooFarAhead([at(watermark)]);
    expect(tasks.map(({ watermark, alignment }) => alignment.tooFarAhead([at(watermark)]).length)).toEqual([0, 0, 1]);
  });
});

describe('the drift of a task', () => {
  it('is that of its foremost partition from the slowest of the group, here or elsewhere', () => {
    const groups = new AlignmentGroups();
    const [a, b] = [groups.of('0_0', '0'), groups.of('0_1', '0')];
    expect(a.drift([at(70), at(100, { id: 1 })])).toBe(30);
    b.tooFarAhead([at(40)]);
    expect(a.drift([at(70), at(100, { id: 1 })])).toBe(60);
    expect(b.drift([at(40)])).toBe(0);
    // Asking tells nobody where the task is.
    expect(b.drift([at(500)])).toBe(0);
  });

  it('is the highest of its groups, each by itself', () => {
    const groups = new AlignmentGroups();
    groups.of('0_0', '0').tooFarAhead([at(10), at(400, { group: 'orders', id: 1 })]);
    expect(groups.of('0_1', '0').drift([at(30), at(500, { group: 'orders', id: 1 })])).toBe(100);
  });

  it('is not known while none of its partitions takes part', () => {
    const groups = new AlignmentGroups();
    groups.of('0_0', '0').tooFarAhead([at(10)]);
    const other = groups.of('0_1', '0');
    expect(other.drift([])).toBeNull();
    expect(other.drift([at(-Infinity), at(100, { idle: true, id: 1 }), at(Infinity, { id: 2 })])).toBeNull();
    expect(other.drift([at(-Infinity), at(100, { id: 1 }), at(Infinity, { id: 2 })])).toBe(90);
  });
});
