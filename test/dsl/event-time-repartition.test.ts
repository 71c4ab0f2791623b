import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { Windowed } from '../../src/time/windowed.js';
import { timeWindowedSerde } from '../../src/serdes/windowed.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks, type WatermarkOptions } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Topology } from '../../src/topology/nodes.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const sumSerdes = { keySerde: timeWindowedSerde(serdes.string, 10), valueSerde: serdes.double };

/** Readings by device, keyed anew by their room (the first letter), summed a window of 10 ms. */
function byRoom(bound = 0, options: WatermarkOptions = {}): Topology {
  const builder = new StreamsBuilder();
  sums(builder.stream('readings', { ...numbers, watermarks: watermarks.boundedOutOfOrderness(bound, options) })).to('sums');
  return builder.build();
}

function sums(readings: KStream<string, number>): KStream<Windowed<string>, number> {
  return readings
    .keyBy((_value, key) => key.slice(0, 1), { name: 'by-room', keySerde: serdes.string, valueSerde: serdes.double })
    .window(tumblingEventTime({ size: 10 }))
    .reduce((a, b) => a + b, { name: 'sum', valueSerde: serdes.double });
}

interface Sum {
  readonly key: { readonly key: string; readonly window: { readonly start: number } } | null;
  readonly value: number | null;
}

const shown = ({ key, value }: Sum) => `${key?.key} from ${key?.window.start}: ${value}`;

describe('event time across a repartition topic', () => {
  it('is the lowest over all tasks upstream: a slow partition keeps the windows of every key open', async () => {
    await using driver = new TopologyTestDriver(byRoom(), { partitions: { readings: 3 } });
    const readings = driver.inputTopic('readings', numbers);
    const out = driver.outputTopic('sums', sumSerdes);
    await readings.pipe('a1', 1, { timestamp: 5, partition: 0 });
    await readings.pipe('a2', 2, { timestamp: 500, partition: 0 });
    await readings.pipe('a3', 4, { timestamp: 400, partition: 1 });
    // Nothing was heard of partition 2.
    expect(out.isEmpty).toBe(true);
    await readings.pipe('a4', 8, { timestamp: 6, partition: 2 });
    expect(out.isEmpty).toBe(true);
    await readings.pipe('b1', 1, { timestamp: 10, partition: 2 });
    expect(out.readAll().map(shown)).toEqual(['a from 0: 9']);
    expect(driver.droppedRecords).toBe(0);
  });

  it('is not held back by an idle partition upstream, and holds for it again when it wakes up', async () => {
    await using driver = new TopologyTestDriver(byRoom(0, { idleness: 1_000 }), { partitions: { readings: 2 } });
    const readings = driver.inputTopic('readings', numbers);
    const out = driver.outputTopic('sums', sumSerdes);
    await readings.pipe('a', 1, { timestamp: 5, partition: 0 });
    await readings.pipe('a', 1, { timestamp: 20, partition: 0 });
    await driver.advanceWallClock(200);
    expect(out.isEmpty).toBe(true);
    await driver.advanceWallClock(1_001);
    expect(out.readAll().map(shown)).toEqual(['a from 0: 1']);
    await readings.pipe('a', 2, { timestamp: 21, partition: 1 });
    await readings.pipe('a', 4, { timestamp: 100, partition: 0 });
    expect(out.isEmpty).toBe(true);
    await readings.pipe('a', 8, { timestamp: 101, partition: 1 });
    expect(out.readAll().map(shown)).toEqual(['a from 20: 3']);
  });

  it('passes two of them one after the other', async () => {
    const builder = new StreamsBuilder();
    sums(
      builder
        .stream('readings', { ...numbers, watermarks: watermarks.monotonous() })
        .map((value, key) => [key.toUpperCase(), value], numbers)
        .repartition({ name: 'upper', ...numbers }),
    ).to('sums');
    await using driver = new TopologyTestDriver(builder.build(), { partitions: { readings: 2 } });
    const readings = driver.inputTopic('readings', numbers);
    for (const partition of [0, 1]) await readings.pipe('a', 1, { timestamp: 5, partition });
    for (const partition of [0, 1]) await readings.pipe('b', 1, { timestamp: 50, partition });
    expect(driver.outputTopic('sums', sumSerdes).readAll().map(shown)).toEqual(['A from 0: 2']);
  });

  it('also reaches an interval join whose sides were keyed anew', async () => {
    const builder = new StreamsBuilder();
    const side = (topic: string) =>
      builder
        .stream(topic, { ...numbers, watermarks: watermarks.monotonous() })
        .keyBy((_value, key) => key.slice(0, 1), { name: `by-room-${topic}`, ...numbers });
    const { results, lateLeft } = side('left').intervalJoin(side('right'), { lower: -5, upper: 5 }, (a, b) => a + b, {
      name: 'pairs',
      valueSerde: serdes.double,
      sideOutputLate: true,
    });
    results.to('pairs');
    lateLeft.to('late');
    await using driver = new TopologyTestDriver(builder.build(), { partitions: { left: 2, right: 2 } });
    const [left, right] = [driver.inputTopic('left', numbers), driver.inputTopic('right', numbers)];
    await left.pipe('a1', 1, { timestamp: 10, partition: 0 });
    await left.pipe('a1', 1, { timestamp: 1_000, partition: 0 });
    await left.pipe('a1', 1, { timestamp: 1_000, partition: 1 });
    await right.pipe('a2', 2, { timestamp: 15, partition: 1 });
    expect(driver.outputTopic('pairs', numbers).readAll()).toMatchObject([{ key: 'a', value: 3, timestamp: 15 }]);
    for (const partition of [0, 1]) await right.pipe('a2', 2, { timestamp: 2_000, partition });
    await left.pipe('a1', 7, { timestamp: 20, partition: 0 });
    expect(driver.outputTopic('late', numbers).readAll()).toMatchObject([{ key: 'a', value: 7 }]);
  });

  it('has an end with a bounded input: every window behind it closes', async () => {
    await using driver = new TopologyTestDriver(byRoom(), { partitions: { readings: 2 } });
    await driver.inputTopic('readings', numbers).pipe('a1', 1, { timestamp: 5, partition: 0 });
    await driver.endInput();
    expect(driver.outputTopic('sums', sumSerdes).readAll().map(shown)).toEqual(['a from 0: 1']);
  });

  it('goes through the one topic that is left of several that were merged', async () => {
    const builder = new StreamsBuilder();
    const upper = builder
      .stream('readings', { ...numbers, watermarks: watermarks.monotonous() })
      .map((value, key) => [key.toUpperCase(), value], numbers);
    const window = tumblingEventTime({ size: 10 });
    const add = (a: number, b: number): number => a + b;
    upper.keyBy().window(window).reduce(add, { name: 'sum' }).to('sums');
    upper.keyBy().window(window).reduce(Math.max, { name: 'highest' }).to('highest');
    const topology = builder.build({ optimizations: ['mergeRepartitions'] });
    expect([...topology.repartitionTopics.values()]).toMatchObject([{ carriesWatermarks: true }]);
    await using driver = new TopologyTestDriver(topology, { partitions: { readings: 2 } });
    const readings = driver.inputTopic('readings', numbers);
    for (const partition of [0, 1]) await readings.pipe('a', 1 + partition, { timestamp: 5, partition });
    for (const partition of [0, 1]) await readings.pipe('b', 1, { timestamp: 50, partition });
    expect(driver.outputTopic('sums', sumSerdes).readAll().map(shown)).toEqual(['A from 0: 3']);
    expect(driver.outputTopic('highest', sumSerdes).readAll().map(shown)).toEqual(['A from 0: 2']);
  });

  it('goes unseen by whoever reads the topic, and is not sent where nobody downstream works in it', async () => {
    await using driver = new TopologyTestDriver(byRoom(), { partitions: { readings: 2 } });
    await driver.inputTopic('readings', numbers).pipe('a1', 1, { timestamp: 5, partition: 0 });
    expect(driver.outputTopic('test-by-room-repartition', numbers).readAll()).toMatchObject([{ key: 'a', value: 1 }]);
    expect(byRoom().repartitionTopics.get('by-room-repartition')).toMatchObject({ carriesWatermarks: true });

    const builder = new StreamsBuilder();
    builder
      .stream('readings', { ...numbers, watermarks: watermarks.monotonous() })
      .groupBy((value) => String(value), { name: 'by-value', ...numbers })
      .count()
      .toStream()
      .to('counts');
    expect(builder.build().repartitionTopics.get('by-value-repartition')).toEqual({ name: 'by-value-repartition', partitions: null });
  });
});

describe('the results of a job with watermarks', () => {
  const size = 10;
  const bound = 15;
  const records = fc.array(
    fc.record({
      key: fc.constantFrom('a1', 'a2', 'b1', 'b2'),
      value: fc.integer({ min: 1, max: 9 }),
      time: fc.nat(200),
      delay: fc.nat(bound),
      partition: fc.nat(2),
    }),
    { maxLength: 40 },
  );

  /** Pipes records in that order, each followed by a commit or not, then far ahead in every partition; gives the sums. */
  async function run(
    input: readonly { key: string; value: number; time: number; partition: number }[],
    commits: readonly boolean[],
  ): Promise<{ results: string[]; dropped: number }> {
    await using driver = new TopologyTestDriver(byRoom(bound), { partitions: { readings: 3 }, autoCommit: false });
    const readings = driver.inputTopic('readings', numbers);
    for (const [index, { key, value, time, partition }] of input.entries()) {
      await readings.pipe(key, value, { timestamp: time, partition });
      if (commits[index % commits.length] === true) await driver.commit();
    }
    for (const partition of [0, 1, 2]) await readings.pipe('z', 0, { timestamp: 10_000, partition });
    await driver.commit();
    return { results: driver.outputTopic('sums', sumSerdes).readAll().map(shown).sort(), dropped: driver.droppedRecords };
  }

  it('are the same for input shuffled within the bound as for sorted input, across a repartition too', async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), async (drawn, commits) => {
        const expected = new Map<string, number>();
        for (const { key, value, time } of drawn) {
          const name = `${key.slice(0, 1)} from ${Math.floor(time / size) * size}`;
          expected.set(name, (expected.get(name) ?? 0) + value);
        }
        const reference = [...expected].map(([name, sum]) => `${name}: ${sum}`).sort();
        const sorted = drawn.toSorted((a, b) => a.time - b.time);
        // Whoever is delayed by at most the bound comes at most the bound behind a later one.
        const shuffled = drawn.toSorted((a, b) => a.time + a.delay - (b.time + b.delay));
        for (const input of [sorted, shuffled]) expect(await run(input, commits)).toEqual({ results: reference, dropped: 0 });
      }),
      { numRuns: 40 },
    );
  });
});

describe('event time that would wait for itself', () => {
  it('is refused when the topology is built, with the topics that it goes round through', () => {
    const builder = new StreamsBuilder();
    const readings = builder.stream('readings', { ...numbers, watermarks: watermarks.monotonous() });
    const anew = readings.keyBy((_value, key) => key, { name: 'anew', ...numbers });
    readings.keyBy().intervalJoin(anew, { lower: 0, upper: 5 }, (a, b) => a + b, { name: 'joined', valueSerde: serdes.double });
    expect(() => builder.build()).toThrow(
      expect.objectContaining({
        code: 'MILL_TOPOLOGY_INVALID',
        message: expect.stringContaining('go out through anew-repartition and come back'),
      }),
    );
  });

  it('is none when the others have a topic of their own too', async () => {
    const builder = new StreamsBuilder();
    const readings = builder.stream('readings', { ...numbers, watermarks: watermarks.monotonous() });
    const anew = readings.keyBy((_value, key) => key, { name: 'anew', ...numbers });
    readings
      .repartition({ name: 'same', ...numbers })
      .keyBy()
      .intervalJoin(anew, { lower: 0, upper: 5 }, (a, b) => a + b, { name: 'joined', valueSerde: serdes.double })
      .to('joined');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    for (const timestamp of [1, 10, 100]) await input.pipe('a', timestamp, { timestamp });
    expect(
      driver
        .outputTopic('joined', numbers)
        .readAll()
        .map(({ value }) => value),
    ).toEqual([2, 20, 200]);
  });
});
