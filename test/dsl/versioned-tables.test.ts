/** Which tables have versions (KIP-914): seen by a stream that is joined with the row as of its own time. */
import { describe, expect, it } from '@jest/globals';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { tumbling } from '../../src/time/time-windows.js';
import { runTopology, strings, type Input } from './run-topology.js';

const versions = { storeName: 'versions', historyRetention: 1000, ...strings };
const kept = { storeName: 'kept', ...strings };
const source = (builder: StreamsBuilder): KTable<string, string> =>
  builder.table('rows', { ...strings, materialized: { storeName: 'source', historyRetention: 1000 } });

/** Rows of 10 and of 20, then probes at 15 and at 25: what each probe meets. */
async function met<V>(declare: (builder: StreamsBuilder) => KTable<string, V>): Promise<readonly string[]> {
  const inputs: Input[] = [
    ['k', 'one', 10, 'rows'],
    ['k', 'two', 20, 'rows'],
    ['k', 'early', 15],
    ['k', 'late', 25],
  ];
  const { out } = await runTopology((builder) => {
    const probes = builder.stream('in', strings);
    probes.leftJoin(declare(builder), (probe, row: V | null) => `${probe} ${String(row)}`, { valueSerde: serdes.string }).to('out');
  }, inputs);
  return out;
}

const asOf = (first: string, second: string): string[] => [`k=early ${first}@15`, `k=late ${second}@25`];

describe('a table has versions', () => {
  it('when its source has a history', async () => {
    expect(await met(source)).toEqual(asOf('one', 'two'));
  });

  it.each(['count', 'reduce', 'aggregate'] as const)('when it is a %s of a stream kept with a history', async (kind) => {
    const rows = await met<string | number>((builder) => {
      const grouped = builder.stream('rows', strings).groupByKey();
      if (kind === 'count') return grouped.count({ materialized: { storeName: 'versions', historyRetention: 1000 } });
      const add = (all: string, value: string): string => `${all}+${value}`;
      return kind === 'reduce'
        ? grouped.reduce(add, { materialized: versions })
        : grouped.aggregate(() => '', add, { materialized: versions });
    });
    expect(rows).toEqual({ count: asOf('1', '2'), reduce: asOf('one', 'one+two'), aggregate: asOf('+one', '+one+two') }[kind]);
  });

  it('when it is grouped from a table, or made of a stream, and kept with a history', async () => {
    const regrouped = (builder: StreamsBuilder): KTable<string, string> =>
      builder
        .table('rows', strings)
        .groupBy((value, key) => [key, value], strings)
        .reduce(
          (_all, value) => value,
          (all) => all,
          { materialized: versions },
        );
    expect(await met(regrouped)).toEqual(asOf('one', 'two'));
    expect(await met((builder) => builder.stream('rows', strings).toTable({ materialized: versions }))).toEqual(asOf('one', 'two'));
  });

  it('when it is computed from one that has, and not kept', async () => {
    const shout = (value: string): string => value.toUpperCase();
    expect(await met((builder) => source(builder).mapValues(shout, { valueSerde: serdes.string }))).toEqual(asOf('ONE', 'TWO'));
    expect(await met((builder) => source(builder).filter((value) => value !== 'two'))).toEqual(asOf('one', 'null'));
  });

  it('when it is computed from any table and kept with a history of its own', async () => {
    const plain = (builder: StreamsBuilder): KTable<string, string> => builder.table('rows', strings);
    expect(await met((builder) => plain(builder).mapValues((value) => `${value}!`, { materialized: versions }))).toEqual(
      asOf('one!', 'two!'),
    );
    expect(await met((builder) => plain(builder).filterNot((value) => value === 'two', { materialized: versions }))).toEqual(
      asOf('one', 'null'),
    );
  });

  it('no more when it is kept without one, or joined', async () => {
    expect(await met((builder) => source(builder).mapValues((value) => value, { materialized: kept }))).toEqual(asOf('two', 'two'));
    const joined = (builder: StreamsBuilder): KTable<string, string> =>
      source(builder).leftJoin(builder.table('others', strings), (one) => one, { materialized: kept });
    expect(await met(joined)).toEqual(asOf('two', 'two'));
  });
});

describe('changes that come out of order', () => {
  it('are kept where they belong, and change neither aggregations nor what is older than the history', async () => {
    const { out, dropped } = await runTopology(
      (builder) => {
        const filtered = builder.table('in', strings).filter(() => true, { materialized: { ...versions, historyRetention: 100 } });
        filtered
          .groupBy((value, key) => [key, value], strings)
          .reduce(
            (_all, value) => value,
            (all) => all,
            { materialized: kept },
          )
          .toStream()
          .to('out', strings);
      },
      [
        ['k', 'latest', 200],
        ['k', 'older', 150],
        ['k', 'too old', 50],
      ],
    );
    expect(out).toEqual(['k=latest@200']);
    expect(dropped).toMatchObject({ expired: 1 });
  });
});

describe('a history is refused', () => {
  it('for a table that is not kept under a name', () => {
    const table = new StreamsBuilder().table('rows', strings);
    expect(() => table.filter(() => true, { materialized: { historyRetention: 5 } })).toThrow(/storeName.*MILL_TOPOLOGY_INVALID/s);
  });

  it('for windows', () => {
    const windowed = new StreamsBuilder()
      .stream('in', strings)
      .groupByKey()
      .windowedBy(tumbling({ size: 5 }));
    expect(() => windowed.count({ materialized: { storeName: 'w', historyRetention: 5 } })).toThrow(/no versions.*MILL_TOPOLOGY_INVALID/s);
  });
});
