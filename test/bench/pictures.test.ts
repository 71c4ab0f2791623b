import { describe, expect, it } from '@jest/globals';
import { drawCurve } from '../../bench/report/pictures.js';
import { summarise } from '../../bench/report/summary.js';
import { curves, pointName } from '../../bench/rows/curves.js';

const keys = curves.find(({ name }) => name === 'keys')!;

function measured(points: readonly number[]) {
  return points.flatMap((point) => [
    summarise(pointName(keys, 'count', point), 'records/s', 'higher', { ours: [900_000], theirs: [100_000] }),
    summarise(`cpu-${pointName(keys, 'count', point)}`, 'CPU s per million records', 'lower', { ours: [1], theirs: [12] }),
  ]);
}

describe('the picture of a curve', () => {
  it('has both sides and what was changed', () => {
    const picture = drawCurve(keys, measured(keys.points));

    expect(picture).toMatch(/^<svg /);
    for (const text of ['count, Millrace', 'count, Kafka Streams', '10,000,000', 'records a second', 'µs of CPU a record']) {
      expect(picture).toContain(text);
    }
  });

  it('is drawn of the points that were measured', () => {
    expect(drawCurve(keys, measured(keys.points.slice(0, 2)))).toMatch(/^<svg /);
  });

  it('is not there when no point was measured', () => {
    expect(drawCurve(keys, [])).toBeNull();
  });
});

describe('the points of a curve', () => {
  it('do not fill the disk with large values', () => {
    const { load, points } = curves.find(({ name }) => name === 'value-bytes')!;

    expect(points.map((point) => load(point, 2_000_000).records)).toEqual([2_000_000, 2_000_000, 1_000_000, 100_000]);
  });
});
