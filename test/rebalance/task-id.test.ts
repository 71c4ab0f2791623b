import { describe, expect, it } from '@jest/globals';
import { compareTaskIds, formatTaskId, parseTaskId } from '../../src/rebalance/task-id.js';

describe('task ids', () => {
  it('have Kafka Streams’ text form', () => {
    expect(formatTaskId({ subTopology: 0, partition: 12 })).toBe('0_12');
    expect(parseTaskId('3_0')).toEqual({ subTopology: 3, partition: 0 });
  });

  it('are ordered by number, not by text', () => {
    const ids = ['10_1', '2_10', '2_9'].map(parseTaskId).sort(compareTaskIds);
    expect(ids.map(formatTaskId)).toEqual(['2_9', '2_10', '10_1']);
  });

  it.each(['', '1', '1_', '_1', '1_2_3', '-1_2', '1_x'])('refuse %j', (text) => {
    expect(() => parseTaskId(text)).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
  });
});
