import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Serde } from '../../src/serdes/serde.js';
import { logAndSkipOnInvalidTimestamp, usePartitionTimeOnInvalidTimestamp } from '../../src/time/timestamp-extractors.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { deferred, settle, TaskRig } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** Decodes through promises, as a registry serde does at a schema it has not met. */
function late(gate: (value: string) => Promise<void>): Serde<string> {
  return {
    name: 'late',
    serialize: (value) => Buffer.from(value),
    deserialize: async (bytes) => {
      const value = String(bytes);
      await gate(value);
      return value;
    },
  };
}

describe('a source', () => {
  it('hands on null keys and null values as null', async () => {
    const seen: unknown[] = [];
    const builder = new StreamsBuilder();
    builder.stream('in', text).foreach((value, key) => void seen.push([key, value]));
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', null, 'v');
    rig.pipe('in', 'k', null);
    rig.pipe('in', '', '');
    await rig.run();
    expect(seen).toEqual([
      [null, 'v'],
      ['k', null],
      ['', ''],
    ]);
  });

  it('of a repartition topic, too, leaves values alone that nobody behind it reads', async () => {
    let decoded = 0;
    const { decode } = serdes.string;
    const counted: Serde<string> = {
      ...serdes.string,
      total: true,
      decode: (...bytes) => {
        decoded++;
        return decode(...bytes);
      },
    };
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .groupBy((value) => value, { keySerde: serdes.string, valueSerde: counted })
      .count();
    await using driver = new TopologyTestDriver(builder.build());
    for (const value of ['a', 'b', 'a']) await driver.inputTopic('in', text).pipe('k', value);
    expect(decoded).toBe(0);
    const [name] = builder.build().stores.keys();
    expect(await (await driver.view<string, number>(name ?? '')).get('a')).toBe(2);
  });

  it('waits for a serde that answers by a promise, and keeps the order', async () => {
    const gate = deferred();
    const builder = new StreamsBuilder();
    builder.stream('in', { ...text, valueSerde: late((value) => (value === '1' ? gate.promise : Promise.resolve())) }).to('out', text);
    const rig = await TaskRig.open(builder.build());
    for (const value of ['1', '2', '3']) rig.pipe('in', 'k', value);
    rig.task.run(Infinity);
    await settle();
    expect(rig.lines('out')).toEqual([]);
    gate.resolve();
    await rig.task.settled();
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=1@0', 'k=2@0', 'k=3@0']);
  });

  it('asks the handler about a promise that rejects', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...text, valueSerde: late((value) => (value === 'bad' ? Promise.reject(new Error('no schema')) : settle())) })
      .to('out', text);
    const rig = await TaskRig.open(builder.build(), { errors: { deserialization: 'continue' } });
    for (const value of ['bad', 'good']) rig.pipe('in', 'k', value);
    await rig.run();
    expect(rig.metrics.deserializationErrors).toBe(1);
    expect(rig.lines('out')).toEqual(['k=good@0']);
  });

  it('keeps the key of the record in work apart from the keys of others across a promise', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', { ...text, valueSerde: late(() => settle()) }).to('out', text);
    const rig = await TaskRig.open(builder.build());
    for (const key of ['a', 'b', 'c']) rig.pipe('in', key, key);
    await rig.run();
    expect(rig.lines('out')).toEqual(['a=a@0', 'b=b@0', 'c=c@0']);
  });
});

describe('a record without a valid time', () => {
  it('is an error by default, with its address', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out', text);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v', -1);
    expect(() => rig.task.run(Infinity)).toThrow(
      expect.objectContaining({ code: 'MILL_INVALID_TIMESTAMP', details: { topic: 'in', partition: 0, offset: 0, timestamp: -1 } }),
    );
  });

  it('can’t come by a promise: that would be no time, and every record dropped', async () => {
    const builder = new StreamsBuilder();
    const timestampExtractor = { name: 'asked', extract: () => Promise.resolve(5) as never };
    builder.stream('in', { ...text, timestampExtractor }).to('out', text);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v');
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_PROCESSING', message: expect.stringContaining('extract gave a promise') });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['an instance of Date', new Date(5)],
    ['a string', '1700000000000'],
    ['1700000000000n', 1_700_000_000_000n],
    ['1700000000000.25', 1_700_000_000_000.25],
    ['1700000000000000000', 1_700_000_000_000_000_000],
  ])('is one that the extractor makes no time of: %s fails it, and nothing is dropped', async (shown, answer) => {
    const builder = new StreamsBuilder();
    const timestampExtractor = { name: 'forgetful', extract: ({ value }: { value: unknown }) => (value === 'bad' ? answer : 5) as number };
    builder.stream('in', { ...text, timestampExtractor }).to('out', text);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'good');
    rig.pipe('in', 'k', 'bad');
    await expect(rig.run()).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      message: expect.stringContaining(`of in-0 at offset 1: extract gave ${shown}: it must give whole milliseconds since 1970`),
      details: { topic: 'in', partition: 0, offset: 1 },
    });
    expect(rig.metrics.dropped).toEqual(new Map());
  });

  it.each([-1, -5, -0.5, -Infinity])('is dropped and counted when its extractor gives %p', async (answer) => {
    const builder = new StreamsBuilder();
    builder.stream('in', { ...text, timestampExtractor: { name: 'picky', extract: () => answer } }).to('out', text);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v');
    await rig.run();
    expect(rig.lines('out')).toEqual([]);
    expect(rig.metrics.dropped).toEqual(new Map([['invalid-timestamp', 1]]));
  });

  it('is skipped, or given the partition’s time, by extractors that say so', async () => {
    const times = async (timestampExtractor: typeof logAndSkipOnInvalidTimestamp): Promise<string[]> => {
      const builder = new StreamsBuilder();
      builder.stream('in', { ...text, timestampExtractor }).to('out', text);
      const rig = await TaskRig.open(builder.build());
      for (const time of [50, -1, 60]) rig.pipe('in', 'k', 'v', time);
      await rig.run();
      return rig.lines('out');
    };
    expect(await times(logAndSkipOnInvalidTimestamp)).toEqual(['k=v@50', 'k=v@60']);
    expect(await times(usePartitionTimeOnInvalidTimestamp)).toEqual(['k=v@50', 'k=v@50', 'k=v@60']);
  });
});

describe('two inputs with times from their values', () => {
  it('are taken by those times, whatever the records’ own are', async () => {
    const seen: number[] = [];
    const timestampExtractor = { name: 'value', extract: ({ value }: { readonly value: unknown }) => Number(value) };
    const builder = new StreamsBuilder();
    builder
      .stream<string, string>(['a', 'b'], { ...text, timestampExtractor })
      .foreach((_value, _key, meta) => void seen.push(meta.timestamp));
    const rig = await TaskRig.open(builder.build());
    for (const value of ['1', '4', '5']) rig.pipe('a', 'k', value, 1000);
    for (const value of ['2', '3', '6']) rig.pipe('b', 'k', value, 10);
    await rig.run();
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
