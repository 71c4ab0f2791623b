import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { watermarks, type WatermarkOptions } from '../../src/time/watermarks/watermark-strategy.js';
import { TaskRig, type RigOptions } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** A task that reads `in` and tells its watermark through the repartition topic `r`. */
function rig(strategy: WatermarkOptions = {}, options: RigOptions = {}): Promise<TaskRig> {
  const builder = new StreamsBuilder();
  builder.stream('in', { ...text, watermarks: watermarks.monotonous(strategy) }).to('out', text);
  const targets = [{ topic: 'app-r', partitions: 2 }];
  return TaskRig.open(builder.build(), { ...options, watermarks: { targets, ...options.watermarks } });
}

/** What the task has to tell at a barrier. */
async function told(task: TaskRig): Promise<string> {
  await task.run();
  await task.task.flush();
  const announcement = task.task.announcement();
  return announcement === null ? 'nothing' : `${announcement.mark.watermark}${announcement.mark.idle ? ' idle' : ''}`;
}

describe('what a task tells the tasks downstream', () => {
  it('is its watermark, once, when it has moved', async () => {
    const task = await rig();
    expect(await told(task)).toBe('nothing');
    task.pipe('in', 'a', '1', 100);
    expect(await told(task)).toBe('99');
    expect(await told(task)).toBe('nothing');
    task.pipe('in', 'a', '2', 50);
    expect(await told(task)).toBe('nothing');
    task.pipe('in', 'a', '3', 101);
    expect(await told(task)).toBe('100');
  });

  it('is that it is idle, and that it is no longer; the clock alone makes that an epoch', async () => {
    const task = await rig({ idleness: 1_000 });
    task.pipe('in', 'a', '1', 100);
    expect(await told(task)).toBe('99');
    task.task.dirty = false;
    for (task.now of [200, 1_000]) task.task.punctuate(task.now);
    expect(task.task.dirty).toBe(false);
    task.now = 1_300;
    // It counts as work: without work the thread plans no barrier, and the tasks downstream would wait for ever.
    expect(task.task.punctuate(task.now)).toBe(1);
    expect(task.task.dirty).toBe(true);
    expect(await told(task)).toBe('99 idle');
    task.now = 1_550;
    expect(task.task.punctuate(task.now)).toBe(0);
    task.pipe('in', 'a', '2', 100);
    task.now = 1_600;
    expect(await told(task)).toBe('99');
  });

  it('is said again now and then only where there are too many tasks to remember it', async () => {
    const few = await rig();
    const many = await rig({}, { watermarks: { repeatEvery: 30_000 } });
    for (const task of [few, many]) {
      task.pipe('in', 'a', '1', 100);
      expect(await told(task)).toBe('99');
      task.now = 29_999;
      expect(await told(task)).toBe('nothing');
      task.now = 30_000;
    }
    expect([await told(few), await told(many)]).toEqual(['nothing', '99']);
  });

  it('is told again by its next life, once that has repeated what may have been cut', async () => {
    const task = await rig({}, { start: { offset: 7, partitionTime: 100 } });
    expect(task.task.announcement()).toBeNull();
    expect(await told(task)).toBe('99');
  });
});
