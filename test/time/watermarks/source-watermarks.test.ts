import { describe, expect, it } from '@jest/globals';
import { aheadOfDrift, AlignmentGroups } from '../../../src/time/watermarks/alignment.js';
import { SourceWatermarks } from '../../../src/time/watermarks/source-watermarks.js';
import { watermarks, type WatermarkOptions } from '../../../src/time/watermarks/watermark-strategy.js';

const two = (options: WatermarkOptions = {}) =>
  new SourceWatermarks([0, 1].map((partition) => ({ topic: 't', partition, strategy: watermarks.monotonous(options) })));

describe('watermarks of a source', () => {
  it('come from each partition for itself, so that a fast one makes no record of a slow one late', () => {
    const source = two();
    source.onEvent(0, 1_000, null);
    source.onPeriodicEmit(0, () => true);
    expect(source.watermark).toBe(-Infinity);
    source.onEvent(1, 10, null);
    source.onPeriodicEmit(0, () => true);
    expect(source.watermark).toBe(9);
  });

  it('do not call a partition idle that still has something to read', () => {
    const source = two({ idleness: 100 });
    const behind = (index: number) => index === 0;
    source.onEvent(0, 1_000, null);
    for (let now = 0; now <= 1_000; now += 50) {
      source.onEvent(0, 1_000 + now, null);
      source.onPeriodicEmit(now, behind);
    }
    expect(source.watermark).toBe(-Infinity);
    for (const now of [1_050, 1_150]) {
      source.onEvent(0, 2_000, null);
      source.onPeriodicEmit(now, () => true);
    }
    expect(source.watermark).toBe(-Infinity);
    source.onEvent(0, 2_000, null);
    source.onPeriodicEmit(1_151, () => true);
    expect(source.watermark).toBe(1_999);
  });

  it('say who holds them back', () => {
    const source = two();
    source.onEvent(1, 10, null);
    source.onPeriodicEmit(0, () => true);
    expect(source.explain()).toMatchObject([
      { topic: 't', partition: 0, sender: null, watermark: -Infinity, idle: false, quietSince: null },
      { topic: 't', partition: 1, sender: null, watermark: 9, idle: false, quietSince: null },
    ]);
  });

  it('go on from where an earlier life of the task was', () => {
    const source = new SourceWatermarks([{ topic: 't', partition: 0, strategy: watermarks.monotonous() }], 500);
    expect(source.watermark).toBe(500);
    source.onEvent(0, 300, null);
    source.onPeriodicEmit(0, () => true);
    expect(source.watermark).toBe(500);
  });
});

describe('alignment', () => {
  const member = (id: string, watermark: number, idle = false) => ({ id, watermark, idle });

  it('holds who is more than the drift ahead of the slowest', () => {
    expect(aheadOfDrift([member('a', 0), member('b', 10), member('c', 11)], 10)).toEqual(['c']);
  });

  it('never holds the slowest, waits for no idle member and none without a watermark', () => {
    expect(aheadOfDrift([member('a', 5, true), member('b', -Infinity), member('c', 1_000)], 10)).toEqual([]);
    expect(aheadOfDrift([], 10)).toEqual([]);
  });

  it('bears a drift without bounds', () => {
    expect(aheadOfDrift([member('a', 0), member('b', Number.MAX_VALUE)], Infinity)).toEqual([]);
  });

  it('is asked for in the strategy', () => {
    const source = two({ alignment: { maxDrift: 100 } });
    source.onEvent(0, 1_000, null);
    source.onEvent(1, 10, null);
    source.onPeriodicEmit(0, () => true);
    const alignment = new AlignmentGroups().of('0_0', '0');
    expect(source.tooFarAhead(alignment)).toEqual([0]);
    // Waiting for one that has ended would have no end.
    expect(source.tooFarAhead(alignment, (index) => index === 1)).toEqual([]);
  });
});
