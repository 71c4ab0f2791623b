import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { untilTimeLimit } from '../../src/dsl/suppressed.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { tumbling } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';
import { strings, write, type Input } from './run-topology.js';

interface Told {
  /** Before the end. */
  readonly early: readonly string[];
  readonly atEnd: readonly string[];
}

async function run(
  declare: (builder: StreamsBuilder) => void,
  inputs: readonly Input[],
  mode: 'streaming' | 'batch',
  emit: 'onUpdate' | 'onCommit' = 'onCommit',
): Promise<Told> {
  const builder = new StreamsBuilder();
  declare(builder);
  await using driver = new TopologyTestDriver(builder.build({ mode }), { emit });
  const out = driver.outputTopic('out', strings);
  const told = (): string[] => out.readAll().map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${timestamp}`);
  for (const [index, [key, value, timestamp, topic = 'in']] of inputs.entries()) {
    await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
    if (index % 3 === 2) await driver.commit();
  }
  await driver.commit();
  const early = told();
  await driver.endInput();
  return { early, atEnd: told() };
}

/** The relation that a changelog of `key=value@timestamp` makes. */
function relation(told: Told): Map<string, string> {
  const rows = new Map<string, string>();
  for (const line of [...told.early, ...told.atEnd]) {
    const [key, rest] = [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)];
    if (rest.startsWith('null@')) rows.delete(key);
    else rows.set(key, rest);
  }
  return rows;
}

const inputs = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.option(fc.constantFrom('x', 'y', 'z')), fc.nat(300)), {
  maxLength: 30,
});

const topologies: readonly (readonly [string, (builder: StreamsBuilder) => void])[] = [
  ['a count', (builder) => write(builder.stream('in', strings).groupByKey().count())],
  ['a source table', (builder) => write(builder.table('in', strings))],
  [
    'a filtered table',
    (builder) => write(builder.table('in', { ...strings, materialized: { storeName: 't' } }).filter((value) => value !== 'x')),
  ],
  [
    'a table grouped anew',
    (builder) =>
      write(
        builder
          .table('in', strings)
          .groupBy((value, key) => [value, key], strings)
          .count(),
      ),
  ],
  [
    'windows of stream time',
    (builder) =>
      write(
        builder
          .stream('in', strings)
          .groupByKey()
          .windowedBy(tumbling({ size: 100, grace: 50 }))
          .count(),
      ),
  ],
  [
    'a join of tables',
    (builder) => {
      const left = builder.table('in', strings);
      write(
        left.outerJoin(
          left.mapValues((value) => `${value}2`),
          (one, other) => `${String(one)}+${String(other)}`,
          { materialized: { valueSerde: serdes.string } },
        ),
      );
    },
  ],
];

describe('batch mode', () => {
  it.each(topologies)('%s: the relation of streaming, each key told once and at the end', async (_name, declare) => {
    await fc.assert(
      fc.asyncProperty(inputs, fc.constantFrom('onUpdate' as const, 'onCommit' as const), async (records, emit) => {
        const batch = await run(declare, records, 'batch', emit);
        const streaming = await run(declare, records, 'streaming', emit);
        expect(relation(batch)).toEqual(relation(streaming));
        expect(batch.early).toEqual([]);
        const keys = batch.atEnd.map((line) => line.slice(0, line.indexOf('=')));
        expect(keys).toEqual([...new Set(keys)]);
      }),
      { numRuns: 60 },
    );
  });

  it('tells the latest rows of a versioned table, whatever came last', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(builder.table('in', { ...strings, materialized: { storeName: 'v', historyRetention: 1000 } }));
    const rows: Input[] = [
      ['a', 'new', 20],
      ['a', 'old', 10],
      ['b', null, 20],
      ['b', 'old', 10],
    ];
    expect(await run(declare, rows, 'batch')).toEqual({ early: [], atEnd: ['a=new@20', 'b=null@20'] });
  });

  it('tells more keys than a portion has, in the order of their bytes', async () => {
    const keys = Array.from({ length: 2_500 }, (_, i) => `k${String(i).padStart(4, '0')}`);
    const builder = new StreamsBuilder();
    write(builder.table('in', strings));
    await using driver = new TopologyTestDriver(builder.build({ mode: 'batch' }));
    for (const key of keys.toReversed()) await driver.inputTopic('in', strings).pipe(key, 'v', { timestamp: 1 });
    const out = driver.outputTopic('out', strings);
    await driver.endInput();
    expect(out.readAll().map(({ key }) => key)).toEqual(keys);
    await driver.endInput();
    expect(out.readAll()).toEqual([]);
  });

  it('keeps nothing of what was told', async () => {
    const builder = new StreamsBuilder();
    builder.table('in', strings).toStream({ name: 'rows' }).to('out', strings);
    await using driver = new TopologyTestDriver(builder.build({ mode: 'batch' }));
    await driver.inputTopic('in', strings).pipe('a', 'x', { timestamp: 1 });
    const waiting = await driver.store<TimestampedKeyValueStore<string, unknown>>('rows-results');
    expect(waiting.approximateEntryCount()).toBe(1);
    await driver.endInput();
    expect(waiting.approximateEntryCount()).toBe(0);
  });

  const late: Input[] = [
    ['a', '1', 10],
    ['a', '2', 150],
    ['a', '3', 20],
    ['a', '4', 30],
  ];
  const joined = {
    initial: () => '',
    add: (all: string, value: string) => all + value,
    merge: (one: string, other: string) => one + other,
    result: (all: string) => all,
  };
  const windows =
    (assigner: WindowAssigner<string>) =>
    (builder: StreamsBuilder): void =>
      builder
        .stream('in', { ...strings, watermarks: watermarks.monotonous() })
        .keyBy()
        .window(assigner, { allowedLateness: 1000 })
        .aggregate(joined, { name: 'w', accumulatorSerde: serdes.string, valueSerde: serdes.string })
        .map((value, { key, window }) => [`${key}@${window.start}-${window.end}`, value] as [string, string], strings)
        .to('out', strings);

  it('tells a window with allowed lateness once, late records included', async () => {
    const declare = windows(tumblingEventTime({ size: 100 }));
    const streaming = await run(declare, late, 'streaming');
    expect(streaming.early).toEqual(['a@0-100=1@99', 'a@0-100=13@99', 'a@0-100=134@99']);
    const batch = await run(declare, late, 'batch');
    expect(batch).toEqual({ early: [], atEnd: ['a@0-100=134@99', 'a@100-200=2@199'] });
  });

  it('tells a session, and what late records have made of it, once each', async () => {
    const declare = windows(sessionEventTime({ gap: 30 }));
    const batch = await run(declare, late, 'batch');
    expect(batch.early).toEqual([]);
    expect(batch.atEnd).toEqual([...new Set((await run(declare, late, 'streaming')).early), 'a@150-180=2@179'].sort());
  });

  // What is told at the end comes late, and not in the order of time.
  const behind: readonly (readonly [string, (builder: StreamsBuilder) => void])[] = [
    [
      'windows of stream time behind a table',
      (builder) =>
        write(
          builder
            .table('in', strings)
            .toStream()
            .groupByKey()
            .windowedBy(tumbling({ size: 50, grace: 0 }))
            .count(),
        ),
    ],
    [
      'windows of event time behind windows with allowed lateness',
      (builder) =>
        builder
          .stream('in', { ...strings, watermarks: watermarks.monotonous() })
          .filter((value: string | null) => value !== null)
          .keyBy()
          .window(tumblingEventTime({ size: 50 }), { allowedLateness: 500 })
          .aggregate(joined, { name: 'w', accumulatorSerde: serdes.string, valueSerde: serdes.string })
          .map((value, { key }) => [key, value] as [string, string], strings)
          .keyBy()
          .window(tumblingEventTime({ size: 100 }))
          .aggregate(joined, { name: 'w2', accumulatorSerde: serdes.string, valueSerde: serdes.string })
          .map((value, { key, window }) => [`${key}@${window.start}`, value] as [string, string], strings)
          .to('out', strings),
    ],
    [
      'a table joined with one that was told',
      (builder) => {
        const table = builder.table('in', { ...strings, materialized: { storeName: 't' } });
        const told = table.toStream().toTable({ materialized: { storeName: 'told', ...strings } });
        write(table.join(told, (one, other) => `${one}+${other}`, { materialized: { valueSerde: serdes.string } }));
      },
    ],
  ];

  it.each(behind)('%s: gets what it gets in streaming', async (_name, declare) => {
    await fc.assert(
      fc.asyncProperty(inputs, async (records) => {
        expect(relation(await run(declare, records, 'batch'))).toEqual(relation(await run(declare, records, 'streaming')));
      }),
      { numRuns: 40 },
    );
  });

  it('has a store for each place where results leave, and no other', () => {
    const storesOf = (mode: 'streaming' | 'batch'): string[] => {
      const builder = new StreamsBuilder();
      const table = builder.table('in', { ...strings, materialized: { storeName: 't' } });
      const told = table.toStream({ name: 'told' });
      told.filter((value) => value !== 'x').to('out', strings);
      table
        .toStream({ name: 'counted' })
        .groupByKey()
        .count({ materialized: { storeName: 'c' } })
        .toStream({ name: 'counts' })
        .foreach(() => undefined);
      return [...builder.build({ mode }).stores.keys()].sort();
    };
    expect(storesOf('streaming')).toEqual(['c', 't']);
    expect(storesOf('batch')).toEqual(['c', 'counts-results', 't', 'told-results']);
  });

  it('ends sub-topologies that feed each other by one call of endInput', async () => {
    const builder = new StreamsBuilder();
    const other = builder.table('other', { ...strings, materialized: { storeName: 'other' } });
    const latest = builder
      .table('in', { ...strings, materialized: { storeName: 't' } })
      .suppress(untilTimeLimit(Infinity), { name: 'held' });
    const joined = latest.join(other, (one, two) => `${one}+${two}`, {
      name: 'fk',
      foreignKey: (value) => value,
      materialized: { storeName: 'joined', ...strings },
    });
    joined.toStream({ name: 'told' }).to('out', strings);
    await using driver = new TopologyTestDriver(builder.build({ mode: 'batch' }));
    await driver.inputTopic('other', strings).pipe('x', 'X', { timestamp: 1 });
    await driver.inputTopic('in', strings).pipe('a', 'x', { timestamp: 1 });
    await driver.endInput();
    expect(
      driver
        .outputTopic('out', strings)
        .readAll()
        .map(({ key, value }) => `${key}=${value}`),
    ).toEqual(['a=x+X']);
  });
});
