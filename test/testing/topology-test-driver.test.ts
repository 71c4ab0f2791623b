import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { tumbling } from '../../src/time/time-windows.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const wordCount = () => {
  const builder = new StreamsBuilder();
  builder
    .stream('lines', text)
    .flatMapValues((line) => line.split(' '), { valueSerde: serdes.string })
    .groupBy((word) => word, { name: 'by-word', keySerde: serdes.string })
    .count({ materialized: { storeName: 'counts' } })
    .toStream()
    .mapValues(String, { valueSerde: serdes.string })
    .to('out');
  return builder.build();
};

describe('TopologyTestDriver', () => {
  it('runs a topology to its end, repartition topics included', async () => {
    const driver = new TopologyTestDriver(wordCount());
    const out = driver.outputTopic('out', text);
    await driver.inputTopic('lines', text).pipe(null, 'to be or not to be', { timestamp: 7 });
    expect(out.readAll().map(({ key, value, timestamp }) => [key, value, timestamp])).toEqual([
      ['to', '2', 7],
      ['be', '2', 7],
      ['or', '1', 7],
      ['not', '1', 7],
    ]);
    expect(out.isEmpty).toBe(true);
    await driver.close();
  });

  it('emits every update when the app does', async () => {
    const driver = new TopologyTestDriver(wordCount(), { emit: 'onUpdate' });
    await driver.inputTopic('lines', text).pipe(null, 'a a');
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ value: '1' }, { value: '2' }]);
    await driver.close();
  });

  it.each([
    [{ emti: 'onUpdate' }, 'TopologyTestDriver has no option emti; did you mean emit?'],
    [{ emit: 'always' }, 'the option emit must be "onCommit" or "onUpdate", not "always"'],
    [{ retry: { attemps: 2 } }, 'TopologyTestDriver has no option retry.attemps; did you mean retry.attempts?'],
  ])('refuses options that it does not know: %j', (config, message) => {
    expect(() => new TopologyTestDriver(wordCount(), config as TestDriverConfig)).toThrow(
      expect.objectContaining({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) }),
    );
  });

  it('leaves the commit to the test when asked to', async () => {
    const driver = new TopologyTestDriver(wordCount(), { autoCommit: false });
    const [lines, out] = [driver.inputTopic('lines', text), driver.outputTopic('out', text)];
    await lines.pipe(null, 'a');
    await lines.pipe(null, 'a b');
    expect(out.readAll()).toEqual([]);
    await driver.commit();
    expect(out.readAll()).toMatchObject([
      { key: 'a', value: '2' },
      { key: 'b', value: '1' },
    ]);
    await driver.close();
  });

  it('shows stores, changelogs and repartition topics', async () => {
    const driver = new TopologyTestDriver(wordCount(), { applicationId: 'app' });
    await driver.inputTopic('lines', text).pipe(null, 'a b a', { timestamp: 3 });
    const counts = await driver.store<TimestampedKeyValueStore<string, number>>('counts');
    expect(counts.getWithTimestamp('a')).toEqual({ value: 2, timestamp: 3 });
    expect(driver.outputTopic('app-by-word-repartition', text).readAll()).toHaveLength(3);
    expect(driver.outputTopic('app-counts-changelog', { keySerde: serdes.string, valueSerde: serdes.bytes }).readAll()).toMatchObject([
      { key: 'a', timestamp: 3 },
      { key: 'b', timestamp: 3 },
    ]);
    await driver.close();
  });

  it('spreads keys over partitions as Kafka does, and groups them in one task each', async () => {
    const driver = new TopologyTestDriver(wordCount(), { partitions: { lines: 3, out: 2 } });
    const words = Array.from({ length: 20 }, (_, index) => `w${index}`);
    for (const partition of [0, 1, 2]) await driver.inputTopic('lines', text).pipe(null, words.join(' '), { partition });
    const out = driver.outputTopic('out', text).readAll();
    for (const word of words) {
      const results = out.filter(({ key }) => key === word);
      expect(results.map(({ value }) => value)).toEqual(['1', '2', '3']);
      expect(new Set(results.map(({ partition }) => partition)).size).toBe(1);
    }
    expect(new Set(out.map(({ partition }) => partition))).toEqual(new Set([0, 1]));
    await driver.close();
  });

  it('awaits async user functions and keeps the order', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .mapValues(
        async (value) => {
          await new Promise((resolve) => setImmediate(resolve));
          return value.toUpperCase();
        },
        { valueSerde: serdes.string },
      )
      .to('out');
    const driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('in', text);
    await input.pipe('k', 'a');
    await input.pipe('k', 'b');
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ value: 'A' }, { value: 'B' }]);
    await driver.close();
  });

  it('carries headers and timestamps through', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out');
    const driver = new TopologyTestDriver(builder.build(), { wallClock: 5 });
    const headers = [{ key: 'h', value: Buffer.from('1') }];
    await driver.inputTopic('in', text).pipe('k', null, { headers });
    expect(driver.outputTopic('out', text).read()).toEqual({ key: 'k', value: null, timestamp: 5, headers, partition: 0 });
    expect(driver.outputTopic('out', text).read()).not.toBeNull();
    await driver.close();
  });

  it('joins with tables and global tables', async () => {
    const builder = new StreamsBuilder();
    const table = builder.table('table', text);
    const global = builder.globalTable('global', text);
    builder
      .stream('in', text)
      .join(table, (value, row) => `${value}-${row}`, { valueSerde: serdes.string })
      .join(global, (value, row) => `${value}-${row}`, { keyOf: () => 'g', valueSerde: serdes.string })
      .to('out');
    const driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('table', text).pipe('k', 't');
    await driver.inputTopic('global', text).pipe('g', 'w');
    await driver.inputTopic('global', text).pipe(null, 'x');
    await driver.inputTopic('in', text).pipe('k', 'v');
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ key: 'k', value: 'v-t-w' }]);
    expect(driver.droppedRecords).toBe(1);
    await driver.close();
  });

  it('moves stream time by records and closes windows', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .groupByKey()
      .windowedBy(tumbling({ size: 10 }))
      .count({ emit: 'onWindowClose' })
      .toStream()
      .map((count, window) => [String(window), String(count)] as const, text)
      .to('out');
    const driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('in', text);
    for (const timestamp of [0, 11, 1000, 3]) await input.pipe('A', 'x', { timestamp });
    expect(
      driver
        .outputTopic('out', text)
        .readAll()
        .map(({ key, value, timestamp }) => [key, value, timestamp]),
    ).toEqual([
      ['[A@0/10]', '1', 0],
      ['[A@10/20]', '1', 11],
    ]);
    expect(driver.droppedByReason).toEqual(new Map([['late', 1]]));
    await driver.close();
  });

  it('counts wall-clock timers from the time before the first move of the clock', async () => {
    const builder = new StreamsBuilder();
    const fired: number[] = [];
    builder.stream('in', text).process(
      () => ({
        init: (context: ProcessorContext<string, string>) =>
          void context.schedule({ interval: 10, time: 'wallClock' }, (timestamp) => void fired.push(timestamp)),
        process: () => undefined,
      }),
      text,
    );
    const driver = new TopologyTestDriver(builder.build());
    await driver.advanceWallClock(10);
    expect(fired).toEqual([10]);
    await driver.close();
  });

  it('writes changelogs of stores without timestamps with the times of records, not of the machine', async () => {
    const builder = new StreamsBuilder();
    const windowed = builder
      .stream('in', text)
      .groupByKey()
      .windowedBy(sessions({ gap: 5 }));
    windowed.count({ materialized: { storeName: 'sessions' } });
    const driver = new TopologyTestDriver(builder.build(), { applicationId: 'app' });
    await driver.inputTopic('in', text).pipe('k', 'v', { timestamp: 1234 });
    const changelog = driver.outputTopic('app-sessions-changelog', { keySerde: serdes.bytes, valueSerde: serdes.bytes });
    expect(changelog.readAll()).toMatchObject([{ timestamp: 1234 }]);
    await driver.close();
  });

  it('fires wall-clock punctuations when the test moves the clock', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .process<string, string>(() => {
        let seen = 0;
        return {
          init: (context: ProcessorContext<string, string>) =>
            void context.schedule({ interval: 100, time: 'wallClock' }, () => context.forward({ key: 'seen', value: String(seen) })),
          process: (_record: Record<string, string>) => {
            seen++;
          },
        };
      }, text)
      .to('out');
    const driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', text).pipe('k', 'v');
    await driver.advanceWallClock(99);
    expect(driver.outputTopic('out', text).isEmpty).toBe(true);
    await driver.advanceWallClock(1);
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ key: 'seen', value: '1', timestamp: 100 }]);
    await driver.close();
  });

  it('a failing function rejects the pipe and names the record; a handler may go on', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .mapValues(
        (value) => {
          if (value === 'bad') throw new Error('no');
          return value;
        },
        { valueSerde: serdes.string },
      )
      .to('out');
    const strict = new TopologyTestDriver(builder.build());
    await expect(strict.inputTopic('in', text).pipe('k', 'bad')).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      details: { topic: 'in', partition: 0, offset: 0 },
    });
    await strict.close();
    const lenient = new TopologyTestDriver(builder.build(), { processingHandler: 'continue' });
    await lenient.inputTopic('in', text).pipe('k', 'bad');
    await lenient.inputTopic('in', text).pipe('k', 'good');
    expect(lenient.outputTopic('out', text).readAll()).toMatchObject([{ value: 'good' }]);
    await lenient.close();
  });

  it('dead-letters undecodable records with their bytes', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', { keySerde: serdes.string, valueSerde: serdes.json() }).to('out');
    const driver = new TopologyTestDriver(builder.build(), { deserializationHandler: 'deadLetter', deadLetterTopic: 'dead' });
    await driver.inputTopic('in', text).pipe('k', '{no json');
    expect(driver.outputTopic('dead', text).readAll()).toMatchObject([{ key: 'k', value: '{no json' }]);
    await driver.close();
  });

  it('a topic that the topology does not know is an error, not an empty result', () => {
    const driver = new TopologyTestDriver(wordCount());
    expect(() => driver.inputTopic('line', text)).toThrow(expect.objectContaining({ code: 'MILL_TOPIC_MISSING' }));
    expect(() => driver.outputTopic('outt', text)).toThrow(expect.objectContaining({ code: 'MILL_TOPIC_MISSING' }));
  });

  it('a store that is not there is an error', async () => {
    const driver = new TopologyTestDriver(wordCount());
    await expect(driver.store('nothing')).rejects.toMatchObject({ code: 'MILL_TOPOLOGY_UNKNOWN_STORE' });
    await driver.close();
  });

  it('unequal partition counts of a join are an error at once', () => {
    const builder = new StreamsBuilder();
    const table = builder.table('table', text);
    builder
      .stream('in', text)
      .join(table, (value) => value)
      .to('out', text);
    const topology = builder.build();
    expect(() => new TopologyTestDriver(topology, { partitions: { table: 2, in: 3 } })).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_NOT_COPARTITIONED' }),
    );
  });

  it('calls must be awaited one by one, and none works after close', async () => {
    const driver = new TopologyTestDriver(wordCount());
    const lines = driver.inputTopic('lines', text);
    const first = lines.pipe(null, 'a');
    const second = lines.pipe(null, 'b');
    await expect(second).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    await first;
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ key: 'a' }]);
    await driver[Symbol.asyncDispose]();
    await expect(lines.pipe(null, 'c')).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
  });
});
