import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { LongWaits } from '../../src/runtime/long-waits.js';
import { serdes } from '../../src/serdes/serdes.js';
import { deferred, settle, TaskRig } from './harness/task-rig.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

describe('a user function that takes long', () => {
  it('is told once, with its record, at half of the transaction timeout', async () => {
    const held = deferred<string>();
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .mapValues((value) => (value === 'held' ? held.promise : value), { valueSerde: serdes.string })
      .to('out', texts);
    const rig = await TaskRig.open(builder.build());
    const waits = new LongWaits(10_000, rig.task.env.logger);
    rig.now = 1000;
    rig.pipe('in', 'k', 'held');
    rig.task.run(Infinity);
    for (const now of [1000, 5999, 6000, 7000, 9000]) waits.check([rig.active], now);
    expect(rig.warnings.map(({ fields }) => fields)).toEqual([
      { taskId: '0_0', topic: 'in', partition: 0, offset: 0, waitedMs: 5000, transactionTimeout: 10_000 },
    ]);
    held.resolve('done');
    await settle();
    waits.check([rig.active], 60_000);
    expect(rig.warnings).toHaveLength(1);
  });
});
