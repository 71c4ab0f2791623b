/** `emitOnChange`: results that are what they were go no further. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping, tumbling, type TimeWindows } from '../../src/time/time-windows.js';
import { Windowed } from '../../src/time/windowed.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const max = (a: string, b: string): string => (a > b ? a : b);
const grouped = (builder: StreamsBuilder) => builder.stream('in', strings).groupByKey();

/** Writes the rows as JSON, with their keys as texts. */
function writeJson<K, V>(table: KTable<K, V>): void {
  table
    .toStream()
    .map((value, key) => [String(key instanceof Windowed ? key.key : key), value === null ? null : JSON.stringify(value)], strings)
    .to('out', strings);
}

/** Keeps the distinct letters of the values, in the very object that it was given. */
function collect(value: string, letters: { seen: string[] }): { seen: string[] } {
  if (!letters.seen.includes(value)) letters.seen.push(value);
  return letters;
}

describe('emitOnChange', () => {
  it.each(['onUpdate', 'onCommit'] as const)('leaves out results of a reduce that stay what they were: %s', async (emit) => {
    const { out } = await runTopology(
      (builder) => write(grouped(builder).reduce(max, { emit, emitOnChange: true })),
      [
        ['k', 'b', 1],
        ['k', 'a', 2],
        ['k', 'b', 3],
        ['k', 'c', 4],
      ],
    );
    expect(out).toEqual(['k=b@1', 'k=c@4']);
  });

  it('is off by default, as in Kafka Streams', async () => {
    const { out } = await runTopology(
      (builder) => write(grouped(builder).reduce(max)),
      [
        ['k', 'b', 1],
        ['k', 'a', 2],
      ],
    );
    expect(out).toEqual(['k=b@1', 'k=b@2']);
  });

  it.each([
    ['onUpdate', false],
    ['onUpdate', true],
    ['onCommit', false],
    ['onCommit', true],
  ] as const)('compares what an aggregator changes in place: %s, slowly: %s', async (emit, slowly) => {
    const { out } = await runTopology(
      (builder) =>
        writeJson(
          grouped(builder).aggregate(
            () => ({ seen: [] as string[] }),
            (letters, value) => (slowly ? Promise.resolve(collect(value, letters)) : collect(value, letters)),
            { emit, emitOnChange: true, materialized: { valueSerde: serdes.json<{ seen: string[] }>() } },
          ),
        ),
      [
        ['k', 'a', 1],
        ['k', 'a', 2],
        ['k', 'b', 3],
        ['k', 'a', 4],
        ['other', 'a', 5],
      ],
    );
    expect(out).toEqual(['k={"seen":["a"]}@1', 'k={"seen":["a","b"]}@3', 'other={"seen":["a"]}@5']);
  });

  it('compares with the last commit: what changed and changed back is not told', async () => {
    const builder = new StreamsBuilder();
    write(builder.table('in', { ...strings, emitOnChange: true }));
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const [input, output] = [driver.inputTopic('in', strings), driver.outputTopic('out', strings)];
    await input.pipe('k', 'a');
    await driver.commit();
    await input.pipe('k', 'b');
    await input.pipe('k', 'a');
    await driver.commit();
    expect(output.readAll().map(({ value }) => value)).toEqual(['a']);
  });

  it('leaves the store as it is without: the row has the time of the last record', async () => {
    const builder = new StreamsBuilder();
    write(builder.table('in', { ...strings, emitOnChange: true, emit: 'onUpdate', materialized: { storeName: 'rows' } }));
    await using driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', strings).pipe('k', 'a', { timestamp: 1 });
    await driver.inputTopic('in', strings).pipe('k', 'a', { timestamp: 7 });
    expect(driver.outputTopic('out', strings).readAll()).toHaveLength(1);
    const rows = await driver.store<TimestampedKeyValueStore<string, string>>('rows');
    expect(rows.getWithTimestamp('k')).toEqual({ value: 'a', timestamp: 7 });
  });

  it.each([
    ['a source table', (builder: StreamsBuilder) => builder.table('in', { ...strings, emitOnChange: true })],
    ['toTable', (builder: StreamsBuilder) => builder.stream('in', strings).toTable({ emitOnChange: true })],
  ])('of %s: equal rows and deletions of nothing are left out', async (_kind, tableOf) => {
    const { out } = await runTopology(
      (builder) => write(tableOf(builder)),
      [
        ['k', null, 1],
        ['k', 'a', 2],
        ['k', 'a', 3],
        ['k', null, 4],
        ['k', null, 5],
        ['k', 'a', 6],
      ],
    );
    expect(out).toEqual(['k=a@2', 'k=null@4', 'k=a@6']);
  });

  it('of mapValues and filter that are kept', async () => {
    const inputs: Input[] = [
      ['k', 'abc', 1],
      ['k', 'abd', 2],
      ['k', 'xyz', 3],
    ];
    const options = { emitOnChange: true, materialized: { storeName: 'kept', valueSerde: serdes.string } };
    const mapped = await runTopology(
      (builder) => write(builder.table('in', strings).mapValues((value) => value.slice(0, 2), options)),
      inputs,
    );
    expect(mapped.out).toEqual(['k=ab@1', 'k=xy@3']);
    const filtered = await runTopology(
      (builder) => write(builder.table('in', strings).filter((value) => value.startsWith('a'), options)),
      [...inputs, ['k', 'xyz', 4], ['k', 'abc', 5], ['k', 'abc', 6]],
    );
    expect(filtered.out).toEqual(['k=abc@1', 'k=abd@2', 'k=null@3', 'k=abc@5']);
  });

  it('tells a row that another table changes in place', async () => {
    const { out } = await runTopology(
      (builder) => {
        const letters = grouped(builder).aggregate(
          () => ({ seen: [] as string[] }),
          (before, value) => collect(value, before),
          {
            materialized: { valueSerde: serdes.json<{ seen: string[] }>() },
          },
        );
        writeJson(
          letters.filter(() => true, {
            emitOnChange: true,
            materialized: { storeName: 'kept', valueSerde: serdes.json<{ seen: string[] }>() },
          }),
        );
      },
      [
        ['k', 'a', 1],
        ['k', 'b', 2],
        ['k', 'b', 3],
      ],
    );
    expect(out).toEqual(['k={"seen":["a"]}@1', 'k={"seen":["a","b"]}@2']);
  });

  it.each(['onUpdate', 'onCommit'] as const)('of windows: %s', async (emit) => {
    const inputs: Input[] = [
      ['k', 'b', 1],
      ['k', 'a', 2],
      ['k', 'c', 12],
      ['k', 'c', 13],
    ];
    const run = async (windows: TimeWindows) => {
      const declare = (builder: StreamsBuilder) =>
        writeJson(grouped(builder).windowedBy(windows).reduce(max, { emit, emitOnChange: true }));
      return (await runTopology(declare, inputs)).out;
    };
    expect(await run(tumbling({ size: 10 }))).toEqual(['k="b"@1', 'k="c"@12']);
    expect(await run(hopping({ size: 20, advance: 10 }))).toEqual(['k="b"@1', 'k="c"@12', 'k="c"@12']);
  });

  it.each(['onUpdate', 'onCommit'] as const)('of sliding windows, whose aggregates are told once: %s', async (emit) => {
    const { out } = await runTopology(
      (builder) =>
        writeJson(
          grouped(builder)
            .windowedBy(sliding({ timeDifference: 10 }))
            .reduce(max, { emit, emitOnChange: true }),
        ),
      [
        ['k', 'b', 20],
        ['k', 'a', 20],
        ['k', 'b', 20],
        ['k', 'c', 20],
      ],
    );
    expect(out).toEqual(['k="b"@20', 'k="c"@20']);
  });

  it.each(['onUpdate', 'onCommit'] as const)(
    'of sessions: one that takes a record and stays what it was is not told again: %s',
    async (emit) => {
      const { out } = await runTopology(
        (builder) => {
          const table = grouped(builder)
            .windowedBy(sessions({ gap: 10, grace: 100 }))
            .reduce(max, { emit, emitOnChange: true });
          table
            .toStream()
            .map((value, { key, window }) => [`${key}[${window.start},${window.end}]`, value], strings)
            .to('out', strings);
        },
        [
          ['k', 'b', 0],
          ['k', 'a', 8],
          ['k', 'a', 4],
          ['k', 'c', 4],
        ],
      );
      expect(out).toEqual(['k[0,0]=b@0', 'k[0,0]=null@0', 'k[0,8]=b@8', 'k[0,8]=c@8']);
    },
  );

  it('of grouped tables, cogroups and joins', async () => {
    const inputs: Input[] = [
      ['k', 'a', 1],
      ['k', 'b', 2],
      ['k', 'c', 3],
    ];
    const counted = await runTopology(
      (builder) =>
        writeJson(
          builder
            .table('in', strings)
            .groupBy(() => ['all', 'x'], strings)
            .count({ emitOnChange: true }),
        ),
      inputs,
    );
    expect(counted.out).toEqual(['all=1@1']);
    const cogrouped = await runTopology(
      (builder) =>
        write(
          grouped(builder)
            .cogroup<string>((before, value) => (before === '' ? value : before))
            .aggregate(() => '', { emitOnChange: true, materialized: { valueSerde: serdes.string } }),
        ),
      inputs,
    );
    expect(cogrouped.out).toEqual(['k=a@1']);
    const joined = await runTopology(
      (builder) =>
        write(
          builder.table('in', strings).join(builder.table('other', strings), (_value, other) => other, {
            emitOnChange: true,
            materialized: { storeName: 'joined', valueSerde: serdes.string },
          }),
        ),
      [['k', 'x', 0, 'other'], ...inputs, ['k', 'y', 4, 'other']],
    );
    expect(joined.out).toEqual(['k=x@1', 'k=y@4']);
  });

  it('a table that is joined tells its changes at once, and those alone', async () => {
    const { out } = await runTopology(
      (builder) => {
        const left = grouped(builder).reduce(max, { emit: 'onCommit', emitOnChange: true });
        write(left.leftJoin(builder.table('other', strings), (value, other) => `${value}${String(other)}`));
      },
      [
        ['k', 'b', 1],
        ['k', 'a', 2],
        ['k', 'c', 3],
      ],
    );
    expect(out).toEqual(['k=bnull@1', 'k=cnull@3']);
  });

  const windowed = (builder: StreamsBuilder) => grouped(builder).windowedBy(tumbling({ size: 10 }));

  it.each<readonly [string, (builder: StreamsBuilder) => unknown, RegExp]>([
    ['final results', (b) => windowed(b).count({ emit: 'onWindowClose', emitOnChange: true }), /leave emitOnChange out/],
    [
      'versioned tables',
      (b) => b.table('in', { ...strings, emitOnChange: true, materialized: { storeName: 's', historyRetention: 10 } }),
      /not for versioned tables/,
    ],
    [
      'tables computed from versioned ones',
      (b) =>
        b
          .table('in', { ...strings, materialized: { storeName: 's', historyRetention: 10 } })
          .filter(() => true, { emitOnChange: true, materialized: { storeName: 't' } }),
      /not for versioned tables/,
    ],
    [
      'tables that are not kept',
      (b) => b.table('in', strings).mapValues((v) => v, { emitOnChange: true }),
      /needs materialized\.storeName/,
    ],
    [
      'joins that are not kept',
      (b) => b.table('in', strings).join(b.table('other', strings), (v) => v, { emitOnChange: true }),
      /needs materialized/,
    ],
    ['anything but true and false', (b) => grouped(b).count({ emitOnChange: 'yes' as never }), /emitOnChange must be/],
  ])('is refused for %s', (_kind, declare, message) => {
    expect(() => declare(new StreamsBuilder())).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringMatching(message) }),
    );
  });
});
