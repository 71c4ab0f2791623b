import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KGroupedStream } from '../../src/dsl/kgrouped-stream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { TwoStageOptions } from '../../src/dsl/options.js';
import { MillraceError } from '../../src/errors.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

interface Mean {
  readonly sum: number;
  readonly count: number;
}
const mean: AggregateFunction<number, Mean, number> = {
  initial: () => ({ sum: 0, count: 0 }),
  add: ({ sum, count }, value) => ({ sum: sum + value, count: count + 1 }),
  merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
  result: ({ sum, count }) => sum / count,
};
const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const materialized = { storeName: 'means', valueSerde: serdes.json<Mean>() };

type Reading = readonly [site: string, value: number, timestamp: number];

interface Run {
  /** The last result of each key, with its timestamp. */
  readonly rows: Readonly<Record<string, string>>;
  /** Records that the repartition topics got, by topic. */
  readonly repartitioned: Readonly<Record<string, number>>;
}

/** Records lie in three partitions by a key of their own and are grouped by their site. `batches` are committed one by one. */
async function run(
  declare: (grouped: KGroupedStream<string, number>) => KTable<string, number>,
  batches: readonly (readonly Reading[])[],
  config: TestDriverConfig = {},
): Promise<Run> {
  const builder = new StreamsBuilder();
  const grouped = builder.stream('in', numbers).groupBy((_value, key) => key.split('|')[0] ?? '', { keySerde: serdes.string });
  const table = declare(grouped);
  table.toStream().to('out', numbers);
  await using driver = new TopologyTestDriver(builder.build(), { partitions: { in: 3 }, emit: 'onUpdate', ...config });
  const input = driver.inputTopic('in', numbers);
  for (const [batch, readings] of batches.entries())
    await input.pipeAll(readings.map(([site, value, timestamp], i) => ({ key: `${site}|${batch}-${i}`, value, timestamp })));
  const rows: Record<string, string> = {};
  for (const { key, value, timestamp } of driver.outputTopic('out', numbers).readAll()) rows[String(key)] = `${String(value)}@${timestamp}`;
  const repartitioned: Record<string, number> = {};
  for (const name of ['means', 'means-parts', 'means-spread']) {
    const topic = `test-${name}-repartition`;
    try {
      repartitioned[name] = driver.outputTopic(topic, { keySerde: serdes.string, valueSerde: serdes.bytes }).readAll().length;
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
    }
  }
  return { rows, repartitioned };
}

const readingsOf = (count: number, sites: number): Reading[] =>
  Array.from({ length: count }, (_, i) => [`site-${i % sites}`, i, i] as const);

describe('an aggregation in two stages', () => {
  it('sends one part a key, task and commit through the repartition topic, where one stage sends every record', async () => {
    const batches = [readingsOf(300, 2), readingsOf(300, 2)];
    const one = await run((grouped) => grouped.aggregate(mean, { materialized }), batches);
    const two = await run((grouped) => grouped.aggregate(mean, { twoStage: true, materialized }), batches);
    expect(two.rows).toEqual(one.rows);
    expect(one.repartitioned).toEqual({ means: 600 });
    // 2 batches × 3 tasks × 2 keys.
    expect(two.repartitioned).toEqual({ 'means-parts': 12 });
  });

  it('keeps sums and counts, never means of means', async () => {
    const { rows } = await run(
      (grouped) => grouped.aggregate(mean, { twoStage: true, materialized }),
      [
        [['a', 20, 1]],
        [
          ['a', 22, 3],
          ['a', 24, 2],
        ],
      ],
    );
    expect(rows).toEqual({ a: '22@3' });
  });

  const forms: Record<string, (grouped: KGroupedStream<string, number>, twoStage: boolean | TwoStageOptions) => KTable<string, number>> = {
    count: (grouped, twoStage) => grouped.count({ twoStage, materialized: { storeName: 'means' } }),
    reduce: (grouped, twoStage) => grouped.reduce((a, b) => Math.max(a, b), { twoStage, materialized: { storeName: 'means' } }),
    'aggregate with functions': (grouped, twoStage) =>
      grouped
        .aggregate<Mean>(mean.initial, (part, value) => mean.add(part, value), {
          twoStage,
          merger: (one, other) => ({ sum: one.sum + other.sum, count: one.count + other.count }),
          materialized,
        })
        .mapValues(mean.result),
    'aggregate with promises': (grouped, twoStage) =>
      grouped
        .aggregate<Mean>(
          async () => mean.initial(),
          async (part, value) => mean.add(part, value),
          {
            twoStage,
            merger: async (one, other) => ({ sum: one.sum + other.sum, count: one.count + other.count }),
            materialized,
          },
        )
        .mapValues(mean.result),
    'aggregate with an aggregate function': (grouped, twoStage) => grouped.aggregate(mean, { twoStage, materialized }),
  };

  it.each(Object.entries(forms))('%s: gives the rows of one stage, whatever the order and the commits', async (_, form) => {
    const reading = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: -9, max: 9 }), fc.integer({ min: 0, max: 100 }));
    const scenario = fc
      .array(fc.array(reading, { maxLength: 12 }), { maxLength: 5 })
      .chain((batches) => fc.tuple(fc.constant(batches), fc.shuffledSubarray(batches.flat(), { minLength: batches.flat().length })));
    const how = fc.constantFrom<boolean | TwoStageOptions>(true, { maxKeys: 1 }, { spread: 2 }, { spread: 5, maxKeys: 2 });
    await fc.assert(
      fc.asyncProperty(scenario, how, async ([batches, shuffled], twoStage) => {
        const one = await run((grouped) => form(grouped, false), [shuffled]);
        const two = await run((grouped) => form(grouped, twoStage), batches);
        expect(two.rows).toEqual(one.rows);
      }),
      { numRuns: 15 },
    );
  });

  it('spread: a key goes to several tasks, each of which sends its part', async () => {
    const { rows, repartitioned } = await run(
      (grouped) => grouped.count({ twoStage: { spread: 3 }, materialized: { storeName: 'means' } }),
      [readingsOf(300, 1)],
    );
    expect(rows).toEqual({ 'site-0': '300@299' });
    expect(repartitioned).toEqual({ 'means-spread': 300, 'means-parts': 3 });
  });

  it('spread is also for streams that are grouped by the key they have', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', numbers)
      .groupByKey()
      .count({ twoStage: { spread: 2 }, materialized: { storeName: 'counts' } })
      .toStream()
      .to('out', { ...numbers, valueSerde: serdes.double });
    await using driver = new TopologyTestDriver(builder.build(), { partitions: { in: 2 } });
    await driver.inputTopic('in', numbers).pipeAll([1, 2, 3].map((value) => ({ key: 'hot', value, timestamp: value })));
    expect(
      driver
        .outputTopic('out', numbers)
        .readAll()
        .map(({ value }) => value)
        .at(-1),
    ).toBe(3);
  });

  it('maxKeys bounds what a task holds', async () => {
    const readings = readingsOf(30, 10).map(([site, value, time]) => [site, value, time] as const);
    const { rows, repartitioned } = await run(
      (grouped) => grouped.count({ twoStage: { maxKeys: 1 }, materialized: { storeName: 'means' } }),
      [readings],
    );
    expect(Object.values(rows)).toHaveLength(10);
    expect(repartitioned['means-parts']).toBeGreaterThan(15);
  });

  it('parts carry no headers: they are of several records', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', numbers)
      .groupBy(() => 'all', { keySerde: serdes.string })
      .count({ twoStage: { maxKeys: 1 }, materialized: { storeName: 'counts' } });
    await using driver = new TopologyTestDriver(builder.build());
    const headers = [{ key: 'h', value: Buffer.from('1') }];
    await driver.inputTopic('in', numbers).pipeAll([{ key: 'a', value: 1, timestamp: 1, headers }]);
    const [part] = driver.outputTopic('test-counts-parts-repartition', numbers).readAll();
    expect(part?.headers).toEqual([]);
  });

  it('a merged repartition topic (optimization) is not that of the parts', async () => {
    const builder = new StreamsBuilder();
    const grouped = builder.stream('in', numbers).groupBy(() => 'all', { keySerde: serdes.string });
    grouped
      .count({ twoStage: true, materialized: { storeName: 'two' } })
      .toStream()
      .to('out', numbers);
    grouped.count({ materialized: { storeName: 'one' } });
    grouped.reduce((a) => a, { materialized: { storeName: 'third' } });
    const topology = builder.build({ optimizations: ['mergeRepartitions'] });
    await using driver = new TopologyTestDriver(topology);
    await driver.inputTopic('in', numbers).pipeAll([1, 2, 3].map((value) => ({ key: 'k', value, timestamp: value })));
    const [two, one] = [await driver.view<string, number>('two'), await driver.view<string, number>('one')];
    expect([await two.get('all'), await one.get('all')]).toEqual([3, 3]);
  });

  it('a function that gives null fails its record: a part can delete no row', async () => {
    const failed: string[] = [];
    const config: TestDriverConfig = { processingHandler: (error) => (failed.push(error.message), 'continue') };
    const { rows } = await run(
      (grouped) => grouped.reduce((a, b) => (b < 0 ? null : a + b), { twoStage: true, materialized: { storeName: 'means' } }),
      [
        [
          ['a', 1, 1],
          ['a', -1, 2],
          ['a', 2, 3],
        ],
      ],
      { ...config, partitions: { in: 1 } },
    );
    expect(rows).toEqual({ a: '3@3' });
    expect(failed).toEqual([expect.stringContaining('reduce gave null: with twoStage a row')]);
  });

  it('a record that is tried again is not folded into the part that it has half changed: the work goes back to the last commit', async () => {
    const list: AggregateFunction<number, number[], number> = {
      initial: () => [],
      add: (seen, value) => {
        seen.push(value);
        if (value === 2) throw new Error('half done');
        return seen;
      },
      merge: (a, b) => [...a, ...b],
      result: (seen) => seen.length,
    };
    const lists = { storeName: 'means', valueSerde: serdes.json<number[]>() };
    const records: Reading[] = [
      ['a', 1, 1],
      ['a', 2, 2],
    ];
    for (const twoStage of [true, false]) {
      const config: TestDriverConfig = { processingHandler: 'retry', retry: { attempts: 3, backoff: 1 }, partitions: { in: 1 } };
      const running = run(
        (grouped) => grouped.aggregate(list, { twoStage, materialized: lists, valueSerde: serdes.double }),
        [records],
        config,
      );
      await expect(running).rejects.toMatchObject({ code: 'MILL_RETRY' });
    }
  });

  describe('a part that cannot be encoded', () => {
    const parts: Serde<Mean> = {
      name: 'parts',
      serialize: (part) => {
        if (part.sum >= 100) throw new Error('too much');
        return serdes.json<Mean>().serialize(part);
      },
      deserialize: (bytes) => serdes.json<Mean>().deserialize(bytes),
    };
    const fragile =
      (twoStage: TwoStageOptions | true) =>
      (grouped: KGroupedStream<string, number>): KTable<string, number> =>
        grouped.aggregate(mean, { twoStage, materialized: { storeName: 'means', valueSerde: parts } });
    const records: Reading[] = [
      ['a', 1, 1],
      ['a', 99, 2],
      ['b', 1, 3],
    ];

    it.each(['continue', 'deadLetter'] as const)(
      'fails whatever the handler says (%s), and not in the name of another record',
      async (productionHandler) => {
        for (const twoStage of [true, { maxKeys: 1 }] as const) {
          const config: TestDriverConfig = { productionHandler, deadLetterTopic: 'dead', partitions: { in: 1 } };
          await expect(run(fragile(twoStage), [records], config)).rejects.toMatchObject({
            code: 'MILL_PRODUCTION',
            message: expect.stringMatching(/in task 0_0: .*too much.*\(the handler said .* stands for several input records/) as unknown,
            details: { topic: null, offset: -1 },
          });
        }
      },
    );

    it('is tried again where a handler says so', async () => {
      let failures = 2;
      const flaky: Serde<Mean> = {
        ...parts,
        serialize: (part) => {
          if (failures-- > 0) throw new Error('not yet');
          return serdes.json<Mean>().serialize(part);
        },
      };
      const { rows } = await run(
        (grouped) => grouped.aggregate(mean, { twoStage: true, materialized: { storeName: 'means', valueSerde: flaky } }),
        [records],
        { productionHandler: 'retry', retry: { attempts: 3, backoff: 1 }, partitions: { in: 1 } },
      );
      expect(rows).toEqual({ a: '50@2', b: '1@3' });
    });
  });
});

describe('names that two stages lack', () => {
  const build = (options: object) => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', numbers)
      .groupBy(() => 'all', { ...numbers })
      .count({ twoStage: { spread: 2 }, ...options });
    return builder.build({ explicitNames: 'require' });
  };

  it('are that of the store, once: the topics are named after it', () => {
    expect(() => build({})).toThrow(/^Names are missing for: store KSTREAM-AGGREGATE-STATE-STORE-\d+ of KSTREAM-AGGREGATE-\d+ [^;]*$/);
    expect(() => build({ materialized: { storeName: 'counts' } })).not.toThrow();
  });
});

describe('what two stages refuse', () => {
  const stream = new StreamsBuilder().stream('in', numbers);
  const grouped = stream.groupBy(() => 'all', { keySerde: serdes.string });
  const { merge: _, ...unmerged } = mean;

  it.each<[string, () => unknown, RegExp]>([
    ['a grouping without a repartition', () => stream.groupByKey().count({ twoStage: true }), /count: twoStage has nothing to save here/],
    [
      'an aggregate without a merger',
      () =>
        grouped.aggregate(
          () => 0,
          (a) => a,
          { twoStage: true },
        ),
      /twoStage needs `merger`/,
    ],
    ['a merge that is no function', () => grouped.aggregate({ ...mean, merge: 5 as never }, { twoStage: true }), /aggregate: merge/],
    [
      'a merger that is no function',
      () =>
        grouped.aggregate(
          () => 0,
          (a) => a,
          { twoStage: true, merger: 5 as never },
        ),
      /aggregate: the option merger must be a function/,
    ],
    ['an aggregate function without merge', () => grouped.aggregate(unmerged, { twoStage: true }), /twoStage needs `merge`/],
    ['a spread over one', () => grouped.count({ twoStage: { spread: 1 } }), /twoStage.spread must be a whole number of at least 2/],
    ['a fraction', () => grouped.count({ twoStage: { spread: 2.5 } }), /spread must be a whole number/],
    ['no keys', () => grouped.count({ twoStage: { maxKeys: 0 } }), /twoStage.maxKeys must be a whole number of at least 1/],
    ['a misspelt option', () => grouped.count({ twoStage: { spred: 2 } as never }), /no option spred; did you mean spread/],
    ['what is no option', () => grouped.count({ twoStage: 'yes' as never }), /twoStage: the options must be an object/],
  ])('%s', (_what, declare, message) => {
    expect(declare).toThrow(MillraceError);
    expect(declare).toThrow(message);
  });
});
