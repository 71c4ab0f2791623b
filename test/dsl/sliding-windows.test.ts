/** Aggregations by sliding window, run through the test driver. The order of results is held to Kafka Streams by the conformance cases. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WindowEmitOption } from '../../src/dsl/options.js';
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const difference = 10;

/** Sets would do: the windows of a key and what is in each, told from the records alone. */
function windowsOf(records: readonly { readonly value: string; readonly at: number }[]): Map<string, string> {
  const starts = new Set<number>();
  for (const { at } of records) starts.add(Math.max(0, at - difference)).add(at + 1);
  const windows = new Map<string, string>();
  for (const start of starts) {
    const inside = records.filter(({ at }) => at >= start && at <= start + difference);
    if (inside.length > 0)
      windows.set(
        `${start}/${start + difference}`,
        inside
          .map(({ value }) => value)
          .sort()
          .join(''),
      );
  }
  return windows;
}

function collect(grace: number, later = false, emit?: WindowEmitOption) {
  return (builder: StreamsBuilder): void => {
    const given = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
    const table = builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(sliding({ timeDifference: difference, grace }))
      .aggregate(
        () => given(''),
        (all: string, value) =>
          given(
            Array.from(all + value)
              .sort()
              .join(''),
          ),
        { ...(emit === undefined ? {} : { emit }), materialized: { valueSerde: serdes.string } },
      );
    write(table, later);
  };
}

const inputs = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2', '3'), fc.nat(60)), { maxLength: 25 }) as fc.Arbitrary<
  Input[]
>;

describe('an aggregate by sliding window', () => {
  it('has a window for each set of records that lie near each other, in whatever order they came', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (records) => {
        const { out } = await runTopology(collect(1_000), records);
        const got = new Map(out.map((row) => /^\[(.*)\]=(.*)@\d+$/.exec(row)?.slice(1) as [string, string]));
        for (const key of ['a', 'b']) {
          const own = records.filter(([name]) => name === key).map(([, value, at]) => ({ value: String(value), at }));
          for (const [window, content] of windowsOf(own)) expect(got.get(`${key}@${window}`)).toBe(content);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same with user functions that answer later', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (records) => {
        expect(await runTopology(collect(5, true), records)).toEqual(await runTopology(collect(5), records));
      }),
      { numRuns: 30 },
    );
  });

  it('tells on close the last result of every window that closed, however far time jumps', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (records) => {
        const all: Input[] = [...records, ['end', 'x', 1_000_000]];
        const updates = (await runTopology(collect(5), all)).out.filter((row) => !row.startsWith('[end'));
        const last = new Map(updates.map((row) => [row.slice(0, row.indexOf('=')), row]));
        const closed = (await runTopology(collect(5, false, 'onWindowClose'), all)).out;
        expect([...closed].sort()).toEqual([...last.values()].sort());
      }),
      { numRuns: 40 },
    );
  });

  it('drops records without a key or a value, and records for closed windows, and counts them', async () => {
    const { dropped } = await runTopology(collect(0), [
      [null, '1', 0],
      ['a', null, 0],
      ['a', '1', 100],
      ['a', '1', 80],
    ]);
    expect(dropped).toEqual({ 'null-key': 1, 'null-value': 1, late: 1 });
  });
});

describe('sliding windows', () => {
  it.each([{ timeDifference: -1 }, { timeDifference: 0.5 }, { timeDifference: 1, grace: -1 }])('refuse %p', (options) => {
    expect(() => sliding(options)).toThrow('MILL_CONFIG_INVALID');
  });
});
