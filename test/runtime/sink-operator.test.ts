import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ProducedOptions } from '../../src/dsl/options.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { deferred, settle, TaskRig, type RigOptions } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

function copy(options: ProducedOptions<string, string> = text) {
  const builder = new StreamsBuilder();
  builder.stream('in', text).to('out', options);
  return builder.build();
}

const rigOf = (options: ProducedOptions<string, string>, rig: RigOptions = {}) => TaskRig.open(copy(options), rig);

describe('a sink', () => {
  it('writes key, value, timestamp and headers as they are', async () => {
    const rig = await rigOf(text);
    rig.pipe('in', 'k', 'v', 42, [{ key: 'h', value: Buffer.from('1') }]);
    rig.pipe('in', null, null, 43);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=v@42', 'null=null@43']);
    expect(rig.written('out')[0]?.headers).toEqual([{ key: 'h', value: Buffer.from('1') }]);
  });

  it('places a key where Kafka’s own producers do', async () => {
    const rig = await rigOf(text, { partitionCount: () => 7 });
    const keys = ['a', 'b', 'flight', 'ß', 'a'];
    for (const key of keys) rig.pipe('in', key, 'v');
    await rig.run();
    for (const { key, partition } of rig.written('out')) {
      expect(partition).toBe(partitionForKey(key as Buffer, 0, (key as Buffer).length, 7));
    }
  });

  it('keeps records without a key on one partition for about 16 KiB, then takes the next', async () => {
    const rig = await rigOf(text, { partitionCount: () => 3 });
    for (let i = 0; i < 40; i++) rig.pipe('in', null, 'x'.repeat(1024));
    await rig.run();
    const partitions = rig.written('out').map(({ partition }) => partition);
    expect(partitions.filter((partition) => partition === 0)).toHaveLength(16);
    expect(partitions.filter((partition) => partition === 1)).toHaveLength(16);
    expect(partitions.filter((partition) => partition === 2)).toHaveLength(8);
  });

  it('asks for the partition count anew in each epoch, since partitions may be added', async () => {
    let [partitions, asked] = [1, 0];
    const rig = await rigOf(text, { partitionCount: () => (asked++, partitions) });
    const pipe = async (): Promise<void> => {
      for (const key of ['a', 'b', 'c', 'd']) rig.pipe('in', key, 'v');
      await rig.run();
    };
    await pipe();
    partitions = 5;
    await pipe();
    await rig.commit();
    await pipe();
    expect(
      new Set(
        rig
          .written('out')
          .slice(0, 8)
          .map(({ partition }) => partition),
      ),
    ).toEqual(new Set([0]));
    expect(new Set(rig.written('out').map(({ partition }) => partition)).size).toBeGreaterThan(1);
    expect(asked).toBe(2);
  });

  it('waits for a topic’s partitions once, in order', async () => {
    const gate = deferred<number>();
    let asked = 0;
    const rig = await rigOf(text, { partitionCount: () => (asked++, gate.promise) });
    rig.pipe('in', 'a', '1');
    rig.pipe('in', 'b', '2');
    rig.task.run(Infinity);
    await settle();
    expect(rig.lines('out')).toEqual([]);
    gate.resolve(1);
    await rig.task.settled();
    await rig.run();
    expect(rig.lines('out')).toEqual(['a=1@0', 'b=2@0']);
    expect(asked).toBe(1);
  });
});

describe('a partitioner', () => {
  const byLength = (choose: (value: string) => unknown) => ({
    ...text,
    partitioner: { partition: (_topic: string, _key: unknown, value: unknown) => choose(value as string) as number },
  });

  it('that gives several partitions sends a copy to each, once', async () => {
    const rig = await rigOf(
      byLength((value) => (value === 'all' ? [2, 0, 2, 1] : [1])),
      { partitionCount: () => 3 },
    );
    rig.pipe('in', 'k', 'all', 5, [{ key: 'h', value: Buffer.from('1') }]);
    rig.pipe('in', 'k', 'one', 6);
    await rig.run();
    const written = rig.written('out').map(({ partition, key, value, headers }) => [partition, String(key), String(value), headers.length]);
    expect(written.sort()).toEqual([
      [0, 'k', 'all', 1],
      [1, 'k', 'all', 1],
      [1, 'k', 'one', 0],
      [2, 'k', 'all', 1],
    ]);
  });

  it('that gives none has the record dropped and counted, and null the default partition', async () => {
    const rig = await rigOf(
      byLength((value) => (value === 'nowhere' ? [] : null)),
      { partitionCount: () => 3 },
    );
    rig.pipe('in', 'k', 'nowhere');
    rig.pipe('in', 'k', 'default');
    await rig.run();
    const key = Buffer.from('k');
    expect(rig.written('out').map(({ partition, value }) => [partition, String(value)])).toEqual([
      [partitionForKey(key, 0, 1, 3), 'default'],
    ]);
    expect(rig.metrics.dropped.get('no-partition')).toBe(1);
  });

  it('sends deletions to several partitions too', async () => {
    const rig = await rigOf(
      byLength(() => [0, 1]),
      { partitionCount: () => 2 },
    );
    rig.pipe('in', 'k', null);
    await rig.run();
    expect(rig.written('out').map(({ value }) => value)).toEqual([null, null]);
  });

  it.each([[[0, 3]], [[-1]], [3], [undefined], ['1'], [['1']], [Promise.resolve(1)]])(
    'that gives %p where there are three partitions fails, and has written to none',
    async (chosen) => {
      const rig = await rigOf(
        byLength(() => chosen),
        { partitionCount: () => 3 },
      );
      rig.pipe('in', 'k', 'v');
      await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_PRODUCTION' });
      expect(rig.written('out')).toEqual([]);
    },
  );
});

describe('a key that is handed on unchanged', () => {
  const samples: readonly (readonly [string, Serde<never>, fc.Arbitrary<unknown>])[] = [
    ['string', serdes.string as unknown as Serde<never>, fc.string({ unit: 'binary' })],
    ['int32', serdes.int32 as unknown as Serde<never>, fc.integer()],
    ['int64', serdes.int64 as unknown as Serde<never>, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['double', serdes.double as unknown as Serde<never>, fc.double()],
    ['boolean', serdes.boolean as unknown as Serde<never>, fc.boolean()],
  ];
  it.each(samples)('as %s has the bytes that encoding it again would give', async (_name, keySerde, values) => {
    const builder = new StreamsBuilder();
    const keyed = { keySerde, valueSerde: serdes.string };
    const stream = builder.stream<never, string>('in', keyed);
    stream.to('passed', keyed);
    // A new stream of keys, made by a function: nothing says that they are the ones read.
    stream.map((value, key) => [structuredClone(key), value], keyed).to('encoded', keyed);
    const rig = await TaskRig.open(builder.build());
    for (const value of fc.sample(values, 50)) {
      const bytes = encoded(keySerde, value);
      rig.log.builder('in', 0).appendRaw(0, bytes, 0, bytes.length, null, 0, 0, null);
    }
    rig.pipe('in', null, null);
    await rig.run();
    const keysOf = (topic: string): string[] => rig.written(topic).map(({ key }) => key?.toString('hex') ?? 'null');
    expect(keysOf('passed')).toHaveLength(51);
    expect(keysOf('passed')).toEqual(keysOf('in'));
    expect(keysOf('encoded')).toEqual(keysOf('in'));
  });

  it('of a mutable kind is encoded again, since it may have been changed in place', async () => {
    const json = { keySerde: serdes.json<{ n: number }>(), valueSerde: serdes.string };
    const builder = new StreamsBuilder();
    builder
      .stream('in', json)
      .peek((_value, key) => {
        key.n++;
      })
      .to('out', json);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', '{"n":1}', 'v');
    await rig.run();
    expect(rig.lines('out')).toEqual(['{"n":2}=v@0']);
  });

  it('whose bytes another writer spelt differently is encoded again, so that it stands where all others of it do', async () => {
    const json = { keySerde: serdes.json<number>(), valueSerde: serdes.string };
    const builder = new StreamsBuilder();
    builder.stream('in', json).to('out', json);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', ' 1.0', 'v');
    await rig.run();
    expect(rig.lines('out')).toEqual(['1=v@0']);
  });

  it('is encoded anew for another serde', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out', { keySerde: serdes.json<string>(), valueSerde: serdes.string });
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v');
    await rig.run();
    expect(rig.lines('out')).toEqual(['"k"=v@0']);
  });
});

function encoded(serde: Serde<never>, value: unknown): Buffer {
  return Buffer.from(serde.serialize(value as never));
}

describe('a topic chosen by a function', () => {
  it('takes each record where the function says', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to((value) => `out-${value}`, text);
    const rig = await TaskRig.open(builder.build(), { partitionCount: (topic) => (topic === 'out-b' ? Promise.resolve(1) : 1) });
    for (const value of ['a', 'b', 'a']) rig.pipe('in', 'k', value);
    await rig.run();
    expect(rig.written('out-a')).toHaveLength(2);
    expect(rig.written('out-b')).toHaveLength(1);
  });

  it.each([{ topic: '' }, { topic: undefined }])('that is $topic is a production error', async ({ topic }) => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to(() => topic as string, text);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v');
    expect(() => rig.task.run(Infinity)).toThrow(expect.objectContaining({ code: 'MILL_PRODUCTION' }));
    expect(rig.metrics.productionErrors).toBe(1);
  });
});

describe('a partitioner', () => {
  const choosing = (partition: number | null) => ({ ...text, partitioner: { partition: () => partition } });

  it('decides, or leaves the decision to the default with null', async () => {
    const chosen = await rigOf(choosing(2), { partitionCount: () => 3 });
    chosen.pipe('in', 'a', 'v');
    await chosen.run();
    expect(chosen.written('out')[0]?.partition).toBe(2);
    const left = await rigOf(choosing(null), { partitionCount: () => 3 });
    left.pipe('in', 'a', 'v');
    await left.run();
    expect(left.written('out')[0]?.partition).toBe(partitionForKey(Buffer.from('a'), 0, 1, 3));
  });

  it.each([3, -1, 0.5, Number.NaN])('that answers %s for three partitions is a production error', async (answer) => {
    const rig = await rigOf(choosing(answer), { partitionCount: () => 3, errors: { production: 'continue' } });
    rig.pipe('in', 'a', 'v');
    await rig.run();
    expect(rig.metrics.productionErrors).toBe(1);
    expect(rig.written('out')).toEqual([]);
    expect(rig.task.positions()[0]?.offset).toBe(1);
  });
});
