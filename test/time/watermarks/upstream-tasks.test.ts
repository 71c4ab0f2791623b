import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SourceWatermarks } from '../../../src/time/watermarks/source-watermarks.js';
import { watermarks } from '../../../src/time/watermarks/watermark-strategy.js';

const behind = (senders: readonly string[], restored?: number) =>
  new SourceWatermarks([{ topic: 'r', partition: 0, strategy: null, senders }], restored);
const active = (watermark: number) => ({ watermark, idle: false });
const idle = (watermark: number) => ({ watermark, idle: true });

describe('the watermark of a task behind others', () => {
  it('stands until each of them has told its own, and is the lowest then', () => {
    const source = behind(['0_0', '0_1']);
    source.hear(0, '0_0', active(500), 1);
    expect(source.watermark).toBe(-Infinity);
    source.hear(0, '0_1', active(30), 2);
    expect(source.watermark).toBe(30);
  });

  it('takes its own partitions in', () => {
    const source = new SourceWatermarks([
      { topic: 'r', partition: 0, strategy: null, senders: ['0_0'] },
      { topic: 't', partition: 0, strategy: watermarks.monotonous() },
    ]);
    source.hear(0, '0_0', active(500), 1);
    source.onEvent(1, 10, null);
    source.onPeriodicEmit(1, () => true);
    expect(source.watermark).toBe(9);
  });

  it('is not held back by one that is idle, also when it never had a watermark', () => {
    const source = behind(['0_0', '0_1']);
    source.hear(0, '0_1', idle(-Infinity), 1);
    source.hear(0, '0_0', active(500), 1);
    expect(source.watermark).toBe(500);
    source.hear(0, '0_1', active(20), 1);
    source.hear(0, '0_0', active(900), 1);
    expect(source.watermark).toBe(500);
    source.hear(0, '0_1', active(700), 1);
    expect(source.watermark).toBe(700);
  });

  it('never goes back when one that was replaced says old things', () => {
    const source = behind(['0_0']);
    source.hear(0, '0_0', active(500), 1);
    source.hear(0, '0_0', active(100), 1);
    expect(source.watermark).toBe(500);
  });

  it('goes on after a restart with what was committed, and waits for those that were not heard of', () => {
    const before = behind(['0_0', '0_1', '0_2']);
    before.hear(0, '0_0', active(500), 1);
    before.hear(0, '0_1', idle(100), 1);
    const after = behind(['0_0', '0_1', '0_2'], 40);
    for (const [task, mark] of before.marks(0)) after.hear(0, task, mark, 2);
    expect(after.watermark).toBe(40);
    after.hear(0, '0_2', active(450), 3);
    expect(after.watermark).toBe(450);
  });

  it('follows the topology: a new task holds it, one that is gone does not, and strangers are not listened to', () => {
    const source = behind(['0_0', '0_1']);
    source.hear(0, '0_0', active(500), 1);
    source.hear(0, '0_7', active(1), 1);
    source.setSenders(0, ['0_0'], 1);
    source.hear(0, '0_0', active(501), 1);
    expect(source.watermark).toBe(501);
    source.setSenders(0, ['0_0', '0_2'], 1);
    source.hear(0, '0_0', active(600), 1);
    expect(source.watermark).toBe(501);
    source.hear(0, '0_2', active(550), 1);
    expect(source.watermark).toBe(550);
  });

  it('is the same in whatever order the tasks are heard, each in its own order', () => {
    const words = fc.array(fc.integer({ min: 0, max: 99 }).map(active), { maxLength: 6 });
    fc.assert(
      fc.property(fc.tuple(words, words, words), fc.array(fc.nat(2), { maxLength: 30 }), (told, order) => {
        const inOrder = behind(['0_0', '0_1', '0_2']);
        const shuffled = behind(['0_0', '0_1', '0_2']);
        const all = told.map((sequence, i) => [...sequence, active(100 + i)]);
        all.forEach((sequence, i) => sequence.forEach((mark) => inOrder.hear(0, `0_${i}`, mark, 1)));
        const left = all.map((sequence) => sequence.slice());
        const turns = [...order, ...[0, 1, 2].flatMap((i) => Array.from({ length: 7 }, () => i))];
        for (const i of turns) {
          const mark = left[i]!.shift();
          if (mark !== undefined) shuffled.hear(0, `0_${i}`, mark, 1);
        }
        expect(shuffled.watermark).toBe(inOrder.watermark);
        expect(shuffled.watermark).toBe(100);
      }),
    );
  });
});
