import { describe, expect, it } from '@jest/globals';
import { JoinModel, taskOrder } from '../../integration-tests/exactly-once/join-model.js';
import { joinReach } from '../../integration-tests/exactly-once/job-topology.js';
import type { ReadRecord } from '../../integration-tests/faults/topic-tail.js';

let offset = 0;
function record(timestamp: number, number: number | null, partition = 0): ReadRecord {
  const value = number === null ? null : Buffer.alloc(4);
  value?.writeInt32BE(number ?? 0);
  return { partition, offset: offset++, timestamp, key: `k${partition}`, value, headers: new Map() };
}

const far = 1_000_000;
const model = (input: readonly ReadRecord[], rows: readonly ReadRecord[], others: readonly ReadRecord[]): JoinModel =>
  new JoinModel(
    taskOrder([
      [...input, record(far, 0)],
      [...rows, record(far + 1, 0)],
      [...others, record(far + 2, 0)],
    ]),
  );

describe('the model of the joins', () => {
  it('takes the oldest record next and stops where one topic has no more', () => {
    const taken = taskOrder([[record(1, 1), record(4, 4)], [record(2, 2), record(9, 9)], [record(3, 3)]]);
    expect(taken.map(({ record: { timestamp } }) => timestamp)).toEqual([1, 2, 3]);
  });

  it('takes partitions by themselves', () => {
    const taken = taskOrder([[record(1, 1, 0), record(5, 1, 1)], [record(2, 2, 0)], [record(3, 3, 0), record(4, 3, 1)]]);
    expect(taken.map(({ record: { timestamp } }) => timestamp)).toEqual([1]);
  });

  it('joins a record with the row of that time', () => {
    const { enriched } = model([record(1, 10), record(3, 11), record(5, 12)], [record(2, 7), record(4, null)], []);
    expect(enriched.get('k0')?.slice(0, 3)).toEqual(['10 -', '11 7', '12 -']);
  });

  it('joins a record with all others within reach, and with nothing when its time is over', () => {
    const { pairs } = model(
      [record(1000, 1), record(5000, 2)],
      [],
      [record(1000 - joinReach, 3), record(1000 + joinReach, 4), record(1001 + joinReach, 5)],
    );
    expect(pairs.get('k0')).toEqual(['1 3', '1 4', '2 -']);
  });
});
