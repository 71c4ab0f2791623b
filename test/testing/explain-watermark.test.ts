import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks, type WatermarkOptions } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Topology } from '../../src/topology/nodes.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

function topology(options: WatermarkOptions = {}): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('readings', { ...numbers, watermarks: watermarks.monotonous(options) })
    .keyBy((_value, key) => key.slice(0, 1), { name: 'by-room', ...numbers })
    .window(tumblingEventTime({ size: 10 }))
    .reduce((a, b) => a + b, { name: 'sum' })
    .map((value, { key }) => [key, value], numbers)
    .to('sums');
  return builder.build();
}

describe('an explanation of a watermark', () => {
  it('names the upstream task that was not heard of, and at its own place the partition', async () => {
    await using driver = new TopologyTestDriver(topology(), { partitions: { readings: 2, sums: 1 } });
    await driver.inputTopic('readings', numbers).pipe('a', 1, { timestamp: 5_000, partition: 0 });
    const [task] = (await driver.explainWatermark('sum')).tasks;
    expect(task).toMatchObject({
      taskId: '1_0',
      watermark: null,
      heldBackBy: { upstreamTask: '0_1', topic: 'test-by-room-repartition', partition: 0, watermark: null, state: 'silent' },
    });
    expect(task?.inputs.map(({ upstreamTask, watermark }) => [upstreamTask, watermark])).toEqual([
      ['0_1', null],
      ['0_0', 4_999],
    ]);
    const source = await driver.explainWatermark('by-room-repartition-sink');
    expect(source.tasks.map(({ taskId, heldBackBy }) => [taskId, heldBackBy?.state, heldBackBy?.watermark])).toEqual([
      ['0_0', 'quiet', 4_999],
      ['0_1', 'quiet', null],
    ]);
    expect(source.tasks[1]?.heldBackBy?.reason).toMatch(/without the option `idleness`/);
  });

  it('says since when, how long until idle, and that an idle one is left out', async () => {
    await using driver = new TopologyTestDriver(topology({ idleness: 30_000 }), { partitions: { readings: 2 } });
    const readings = driver.inputTopic('readings', numbers);
    await readings.pipe('a', 1, { timestamp: 5_000, partition: 0 });
    await driver.advanceWallClock(200);
    await driver.advanceWallClock(10_000);
    const [, quiet] = (await driver.explainWatermark('by-room-repartition-sink')).tasks;
    expect(quiet?.heldBackBy).toMatchObject({ partition: 1, since: 0, state: 'quiet' });
    expect(quiet?.heldBackBy?.reason).toBe('it is read to its end and had no record for 10.0 s; it becomes idle in 20.0 s');
    await readings.pipe('a', 1, { timestamp: 6_000, partition: 0 });
    await driver.advanceWallClock(20_001);
    const { text } = await driver.explainWatermark('sum');
    expect(text).toBe(
      [
        'task 1_0: watermark 1970-01-01T00:00:05.999Z, held back by task 0_0 through test-by-room-repartition-0',
        '  task 0_0 through test-by-room-repartition-0: 1970-01-01T00:00:05.999Z for 20.0 s, told: task 0_0 told it 20.0 s ago; its instance can say what holds it back',
        '  task 0_1 through test-by-room-repartition-0: none yet for 30.2 s, idle: task 0_1 says that all its inputs are idle',
        'task 1_1: watermark 1970-01-01T00:00:05.999Z, held back by task 0_0 through test-by-room-repartition-1',
        '  task 0_0 through test-by-room-repartition-1: 1970-01-01T00:00:05.999Z for 20.0 s, told: task 0_0 told it 20.0 s ago; its instance can say what holds it back',
        '  task 0_1 through test-by-room-repartition-1: none yet for 30.2 s, idle: task 0_1 says that all its inputs are idle',
      ].join('\n'),
    );
  });

  it('says who waits for a slower partition', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream(['left', 'right'], { ...numbers, watermarks: watermarks.monotonous({ alignment: { maxDrift: 100 } }) })
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum' })
      .map((value, { key }) => [key, value], numbers)
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('left', numbers).pipe('a', 1, { timestamp: 1_000 });
    await driver.inputTopic('right', numbers).pipe('a', 1, { timestamp: 10 });
    const [task] = (await driver.explainWatermark('sum')).tasks;
    expect(task?.inputs.map(({ topic, state }) => [topic, state])).toEqual([
      ['right', 'quiet'],
      ['left', 'ahead'],
    ]);
  });

  it('is refused for an operator that there is not, and empty where there is no event time', async () => {
    await using driver = new TopologyTestDriver(topology());
    await expect(driver.explainWatermark('nobody')).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    const builder = new StreamsBuilder();
    builder.stream('in', numbers).to('out');
    await using plain = new TopologyTestDriver(builder.build());
    expect(await plain.explainWatermark()).toEqual({ operator: null, tasks: [], text: 'no task of an operator with event time runs here' });
  });
});
