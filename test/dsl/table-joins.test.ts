/** Joins of tables, by key and by foreign key, and of streams with versioned tables. */
import { describe, expect, it } from '@jest/globals';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

type Text = KTable<string, string>;
type Row = string | null;

const pair = (left: Row, right: Row): string => `${left}+${right}`;
const later = (left: Row, right: Row): Promise<string> => Promise.resolve(pair(left, right));

function tables(declare: (left: Text, right: Text) => Text, history?: number) {
  return (builder: StreamsBuilder): void => {
    const materialized = history === undefined ? {} : { materialized: { historyRetention: history } };
    write(declare(builder.table<string, string>('L', { ...strings, ...materialized }), builder.table<string, string>('R', strings)));
  };
}

const changes: Input[] = [
  ['k', 'a', 5, 'L'],
  ['k', 'b', 3, 'R'],
  ['k', 'c', 4, 'R'],
  ['k', null, 6, 'L'],
  ['k', null, 7, 'R'],
];

describe('join of two tables by key', () => {
  it('inner: follows the changes of both; a result is as late as the later one of its rows', async () => {
    const { out } = await runTopology(
      tables((left, right) => left.join(right, pair)),
      changes,
    );
    expect(out).toEqual(['k=a+b@5', 'k=a+c@5', 'k=null@6']);
  });

  it('left: rows of the left table alone suffice', async () => {
    const { out } = await runTopology(
      tables((left, right) => left.leftJoin(right, pair)),
      changes,
    );
    expect(out).toEqual(['k=a+null@5', 'k=a+b@5', 'k=a+c@5', 'k=null@6']);
  });

  it('outer: rows of either table suffice', async () => {
    const { out } = await runTopology(
      tables((left, right) => left.outerJoin(right, pair)),
      changes,
    );
    expect(out).toEqual(['k=a+null@5', 'k=a+b@5', 'k=a+c@5', 'k=null+c@6', 'k=null@7']);
  });

  it.each(['inner', 'left', 'outer'] as const)(
    '%s: gives the same when the joiner answers later, kept or not, alone or looked up',
    async (kind) => {
      const joined = (joiner: typeof pair | typeof later, options: object) =>
        tables((left, right) => {
          const first =
            kind === 'inner'
              ? left.join(right, joiner, options)
              : kind === 'left'
                ? left.leftJoin(right, joiner, options)
                : left.outerJoin(right, joiner, options);
          return first.outerJoin(right, pair);
        });
      const { out } = await runTopology(joined(pair, {}), changes);
      expect((await runTopology(joined(later, {}), changes)).out).toEqual(out);
      // Kept, the first join is written before the second one looks it up: the last results are equal, what comes between need not be.
      const kept = await runTopology(joined(later, { materialized: { ...strings, storeName: 'first' } }), changes);
      expect(kept.out.at(-1)).toEqual(out.at(-1));
    },
  );

  it('finds rows of tables that are computed and not kept', async () => {
    const declare = tables((left, right) =>
      left
        .mapValues((value) => value.toUpperCase())
        .join(
          right.filter((value) => value !== 'b'),
          pair,
        ),
    );
    const { out } = await runTopology(declare, changes);
    expect(out).toEqual(['k=null@5', 'k=A+c@5', 'k=null@6']);
  });

  it('drops and counts rows of a versioned table that come out of order', async () => {
    const { out, dropped } = await runTopology(
      tables((left, right) => left.leftJoin(right, pair), 100),
      [
        ['k', 'new', 10, 'L'],
        ['k', 'old', 5, 'L'],
      ],
    );
    expect(out).toEqual(['k=new+null@10']);
    expect(dropped).toEqual({ 'out-of-order': 1 });
  });

  it('forgets a result whose rows both go within one epoch, also when results wait for the commit', async () => {
    const builder = new StreamsBuilder();
    tables((left, right) =>
      left.join(
        right.filter(() => true),
        pair,
      ),
    )(builder);
    await using driver = new TopologyTestDriver(builder.build(), { emit: 'onCommit', autoCommit: false });
    const [left, right] = [driver.inputTopic('L', strings), driver.inputTopic('R', strings)];
    await left.pipe('k', 'a', { timestamp: 1 });
    await right.pipe('k', 'b', { timestamp: 2 });
    await driver.commit();
    await left.pipe('k', null, { timestamp: 3 });
    await right.pipe('k', null, { timestamp: 4 });
    await driver.commit();
    const out = driver.outputTopic('out', strings).readAll();
    expect(out.map(({ key, value }) => `${String(key)}=${String(value)}`)).toEqual(['k=a+b', 'k=null']);
  });

  it('has one operator and changelog a side, and one for the result', () => {
    const builder = new StreamsBuilder();
    const [left, right] = [builder.table('l'), builder.table('r')];
    left.join(right, (value) => value, { name: 'both', materialized: { storeName: 'kept' } });
    const topology = builder.build();
    expect([...topology.nodes.keys()].slice(-3)).toEqual(['both-join-this', 'both-join-other', 'both']);
    expect(topology.stores.has('kept')).toBe(true);
  });
});

const foreignKey = (value: string): string | null => value.split('>')[1] ?? null;

describe('join of two tables by a foreign key', () => {
  const rows: Input[] = [
    ['1', 'a>x', 1, 'L'],
    ['2', 'b>x', 2, 'L'],
    ['x', 'X', 3, 'R'],
    ['2', 'b>y', 4, 'L'],
    ['x', 'XX', 5, 'R'],
    ['1', null, 6, 'L'],
  ];

  it('inner: changes of either side reach all rows that refer to each other', async () => {
    const { out } = await runTopology(
      tables((left, right) => left.join(right, pair, { foreignKey })),
      rows,
    );
    expect(out).toEqual(['1=a>x+X@3', '2=b>x+X@3', '2=null@4', '1=a>x+XX@5', '1=null@6']);
  });

  it('left: rows without a counterpart are joined with null', async () => {
    const { out } = await runTopology(
      tables((left, right) => left.leftJoin(right, pair, { foreignKey })),
      [...rows, ['3', 'none', 7, 'L']],
    );
    expect(out).toEqual([
      '1=a>x+null@1',
      '2=b>x+null@2',
      '1=a>x+X@3',
      '2=b>x+X@3',
      '2=b>y+null@4',
      '1=a>x+XX@5',
      '1=null@6',
      '3=none+null@7',
    ]);
  });

  it('gives the same when the functions answer later', async () => {
    const declare = tables((left, right) => left.join(right, later, { foreignKey: (value) => Promise.resolve(foreignKey(value)) }));
    expect((await runTopology(declare, rows)).out).toEqual(
      (
        await runTopology(
          tables((l, r) => l.join(r, pair, { foreignKey })),
          rows,
        )
      ).out,
    );
  });

  it.each([
    ['first', ['R', 'L']],
    ['last', ['L', 'R']],
  ])('inner: takes the result back when one commit brings both the end of the other row, %s, and a new value', async (_, order) => {
    const builder = new StreamsBuilder();
    tables((left, right) => left.join(right, pair, { foreignKey }))(builder);
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    await driver.inputTopic('R', strings).pipe('r', 'x');
    await driver.inputTopic('L', strings).pipe('l', '1>r');
    await driver.commit();
    for (const topic of order)
      if (topic === 'R') await driver.inputTopic('R', strings).pipe('r', null);
      else await driver.inputTopic('L', strings).pipe('l', '2>r');
    await driver.commit();
    const out = driver.outputTopic('out', strings).readAll();
    expect(out.map(({ key, value }) => `${key}=${value}`)).toEqual(['l=1>r+x', 'l=null']);
  });

  it('inner: a row without a foreign key is dropped and counted, and what it had before is taken back', async () => {
    const { out, dropped } = await runTopology(
      tables((left, right) => left.join(right, pair, { foreignKey })),
      [
        ['x', 'X', 1, 'R'],
        ['1', 'a>x', 2, 'L'],
        ['1', 'none', 3, 'L'],
      ],
    );
    expect(out).toEqual(['1=a>x+X@2', '1=null@3']);
    expect(dropped).toEqual({ 'null-foreign-key': 1 });
  });

  it('works over several partitions, whatever the partition of either row', async () => {
    const many = Array.from({ length: 40 }, (_, index): Input => [`${index}`, `${index}>${index % 7}`, 10, 'L']);
    const others = Array.from({ length: 7 }, (_, index): Input => [`${index}`, `r${index}`, 20, 'R']);
    const declare = tables((left, right) => left.join(right, pair, { foreignKey }));
    const { out } = await runTopology(declare, [...many, ...others], { partitions: { L: 3, R: 5, out: 1 } });
    expect(out.toSorted()).toEqual(many.map(([key, value]) => `${key}=${value}+r${Number(key) % 7}@20`).toSorted());
  });
});

describe('join of a stream with a versioned table', () => {
  const declare = (grace?: number) => (builder: StreamsBuilder) => {
    const table = builder.table<string, string>('R', { ...strings, materialized: { historyRetention: 100 } });
    const options = { ...strings, ...(grace === undefined ? {} : { grace }) };
    builder.stream<string, string>('L', strings).leftJoin(table, pair, options).to('out', strings);
  };
  const rows: Input[] = [
    ['k', 'at10', 10, 'R'],
    ['k', 'at20', 20, 'R'],
    ['k', 'a', 15, 'L'],
    ['k', 'b', 5, 'L'],
    ['k', 'at12', 12, 'R'],
    ['k', 'c', 20, 'L'],
  ];

  it('sees the row as of the record’s time', async () => {
    expect((await runTopology(declare(), rows)).out).toEqual(['k=a+at10@15', 'k=b+null@5', 'k=c+at20@20']);
  });

  it('waits for late rows when it has a grace period', async () => {
    const { out } = await runTopology(declare(5), [...rows, ['k', 'd', 40, 'L']]);
    expect(out).toEqual(['k=b+null@5', 'k=a+at12@15', 'k=c+at20@20']);
  });

  it('a waiting record on which the joiner throws fails once, and those behind it leave', async () => {
    const builder = new StreamsBuilder();
    const table = builder.table<string, string>('R', { ...strings, materialized: { historyRetention: 100 } });
    const joiner = (l: string, r: string | null): string => {
      if (l === 'bad') throw new Error('boom');
      return pair(l, r);
    };
    builder
      .stream<string, string>('L', strings)
      .leftJoin(table, joiner, { ...strings, grace: 5 })
      .to('out', strings);
    const told: unknown[] = [];
    await using driver = new TopologyTestDriver(builder.build(), {
      processingHandler: ({ message }, { key, value }) => {
        told.push([message, key, value]);
        return 'continue';
      },
    });
    const l = driver.inputTopic('L', strings);
    for (const value of ['x', 'bad', 'y']) await l.pipe('k', value, { timestamp: 0 });
    for (const timestamp of [10, 20, 30]) await l.pipe('k', `at ${timestamp}`, { timestamp });
    const out = driver.outputTopic('out', strings).readAll();
    expect(told).toEqual([['boom', 'k', 'bad']]);
    expect(out.map(({ value }) => value)).toEqual(['x+null', 'y+null', 'at 10+null', 'at 20+null']);
  });

  it('needs a table that knows the past for at least the grace period', () => {
    const builder = new StreamsBuilder();
    const stream = builder.stream<string, string>('L', strings);
    expect(() => stream.join(builder.table<string, string>('R', strings), pair, { grace: 5 })).toThrow('needs a versioned table');
    const short = builder.table<string, string>('S', { ...strings, materialized: { historyRetention: 4 } });
    expect(() => stream.join(short, pair, { grace: 5 })).toThrow('history of 4 ms');
  });
});
