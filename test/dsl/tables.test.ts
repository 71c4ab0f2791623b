/** Tables made of tables: filter, mapValues, groupBy. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DerivedTableOptions } from '../../src/dsl/options.js';
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const isEven = (value: string): boolean => Number(value) % 2 === 0;
const kept = { ...strings, materialized: { storeName: 'source' } };
const rows: Input[] = [
  ['a', '1', 10],
  ['b', '2', 11],
  ['b', '3', 12],
  ['a', null, 13],
];

function filter(source: object, options: DerivedTableOptions<string, string> = {}) {
  return (builder: StreamsBuilder): void => write(builder.table('in', { ...strings, ...source }).filter(isEven, options));
}

describe('a filtered table', () => {
  it('deletes whatever does not pass when nobody knows what was there', async () => {
    const { out } = await runTopology(filter({}), rows);
    expect(out).toEqual(['a=null@10', 'b=2@11', 'b=null@12', 'a=null@13']);
  });

  it('deletes only what was there when the table is kept', async () => {
    const { out } = await runTopology(filter(kept), rows);
    expect(out).toEqual(['b=2@11', 'b=null@12']);
  });

  it('is kept under its own name', async () => {
    const { out } = await runTopology(filter(kept, { materialized: { storeName: 'even' } }), rows);
    expect(out).toEqual(['b=2@11', 'b=null@12']);
  });

  it('takes a predicate that answers later', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(builder.table('in', kept).filterNot((value) => Promise.resolve(!isEven(value))));
    expect((await runTopology(declare, rows)).out).toEqual(['b=2@11', 'b=null@12']);
  });

  it('knows what was there once a grouping below has asked the source to keep its rows', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const even = builder.table('in', strings).filter(isEven);
      write(even.groupBy((value) => ['all', value], strings).count());
    };
    const { out } = await runTopology(declare, rows);
    expect(out).toEqual(['all=1@11', 'all=0@12']);
  });
});

describe('a table with mapped values', () => {
  it('keeps deletions and never asks the mapper about them', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(builder.table('in', strings).mapValues((value) => `<${value.toUpperCase()}>`, { valueSerde: serdes.string }));
    const { out } = await runTopology(declare, [
      ['a', 'x', 1],
      ['a', null, 2],
    ]);
    expect(out).toEqual(['a=<X>@1', 'a=null@2']);
  });
});

describe('a grouped table', () => {
  function byValue(later: boolean) {
    const given = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
    return (builder: StreamsBuilder): void => {
      const grouped = builder.table('in', strings).groupBy((value, key) => given([value, key] as const), strings);
      const table = grouped.aggregate(
        () => given(''),
        (all: string, key) =>
          given(
            Array.from(all + key)
              .sort()
              .join(''),
          ),
        (all, key) => given(all.replace(key, '')),
        { materialized: { valueSerde: serdes.string } },
      );
      write(table, later);
    };
  }

  it('takes a row out of its old group before it puts it into the new one', async () => {
    const { out } = await runTopology(byValue(false), [
      ['a', 'red', 10],
      ['b', 'red', 9],
      ['a', 'blue', 12],
      ['b', null, 13],
    ]);
    expect(out).toEqual(['red=a@10', 'red=ab@10', 'red=b@12', 'blue=a@12', 'red=@13']);
  });

  it('shows no state in between when a row stays in its group', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const sums = builder
        .table('in', strings)
        .groupBy((value) => ['all', Number(value)], { keySerde: serdes.string, valueSerde: serdes.double })
        .reduce(
          (sum, value) => sum + value,
          (sum, value) => sum - value,
        );
      write(sums);
    };
    const { out } = await runTopology(declare, [
      ['a', '1', 10],
      ['b', '2', 11],
      ['a', '5', 9],
    ]);
    expect(out).toEqual(['all=1@10', 'all=3@11', 'all=7@11']);
  });

  it('has in each group what the table has, whatever came', async () => {
    const input = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom('x', 'y'), { nil: null }), fc.nat(20));
    await fc.assert(
      fc.asyncProperty(fc.array(input, { maxLength: 25 }), async (records) => {
        const { out } = await runTopology(byValue(false), records);
        const table = new Map(records.map(([key, value]) => [key, value]));
        const got = new Map(out.map((row) => /^(.*)=(.*)@\d+$/.exec(row)?.slice(1) as [string, string]));
        for (const group of ['x', 'y']) {
          const members = [...table].filter(([, value]) => value === group).map(([key]) => key);
          expect(got.get(group) ?? '').toBe(members.sort().join(''));
        }
        expect(await runTopology(byValue(true), records as Input[])).toEqual(await runTopology(byValue(false), records));
      }),
      { numRuns: 40 },
    );
  });

  it('leaves out rows that the mapper has no group for', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        builder
          .table('in', strings)
          .groupBy((value, key) => (value === 'none' ? null : [value, key]), strings)
          .count(),
      );
    const { out } = await runTopology(declare, [
      ['a', 'x', 1],
      ['a', 'none', 2],
      ['a', 'x', 3],
    ]);
    expect(out).toEqual(['x=1@1', 'x=0@2', 'x=1@3']);
  });

  it('takes the app’s default serdes for what names none', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        builder
          .table<string, string>('in')
          .groupBy((value, key) => [value, key])
          .count(),
      );
    const config = { defaultKeySerde: serdes.string, defaultValueSerde: serdes.string };
    expect((await runTopology(declare, [['a', 'x', 1]], config)).out).toEqual(['x=1@1']);
  });
});
