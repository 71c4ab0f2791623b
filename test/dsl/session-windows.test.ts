/** Aggregations by session, run through the test driver. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WindowEmitOption } from '../../src/dsl/options.js';
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { sessions } from '../../src/time/session-windows.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const windows = sessions({ gap: 5, grace: 10 });

function count(emit?: WindowEmitOption) {
  return (builder: StreamsBuilder): void =>
    write(
      builder
        .stream('in', strings)
        .groupByKey()
        .windowedBy(windows)
        .count(emit === undefined ? {} : { emit }),
    );
}

describe('a count by session', () => {
  it('deletes a session before it tells the longer one, and carries the end as timestamp', async () => {
    const { out } = await runTopology(count(), [
      ['a', 'x', 10],
      ['a', 'x', 15],
    ]);
    expect(out).toEqual(['[a@10/10]=1@10', '[a@10/10]=null@10', '[a@10/15]=2@15']);
  });

  it('updates a session of one instant in place', async () => {
    const { out } = await runTopology(count(), [
      ['a', 'x', 10],
      ['a', 'x', 10],
    ]);
    expect(out).toEqual(['[a@10/10]=1@10', '[a@10/10]=2@10']);
  });

  it('makes one session of all that a record is near to, by their ends', async () => {
    const { out } = await runTopology(count(), [
      ['a', 'x', 10],
      ['a', 'x', 20],
      ['a', 'x', 15],
    ]);
    expect(out.slice(2)).toEqual(['[a@10/10]=null@10', '[a@20/20]=null@20', '[a@10/20]=3@20']);
  });

  it('takes a late record until stream time has passed gap and grace, then drops and counts it', async () => {
    const { out, dropped } = await runTopology(count(), [
      ['a', 'x', 0],
      ['b', 'x', 15],
      ['late', 'x', 0],
      ['b', 'x', 16],
      ['too late', 'x', 0],
    ]);
    expect(out).toContain('[late@0/0]=1@0');
    expect(out.some((row) => row.includes('too late'))).toBe(false);
    expect(dropped).toEqual({ late: 1 });
  });

  it('drops records without a key and counts those without a value', async () => {
    const { out, dropped } = await runTopology(count(), [
      [null, 'x', 0],
      ['a', null, 0],
    ]);
    expect(out).toEqual(['[a@0/0]=1@0']);
    expect(dropped).toEqual({ 'null-key': 1 });
  });

  it('tells each session once on close, by end, start, key', async () => {
    const { out } = await runTopology(count('onWindowClose'), [
      ['b', 'x', 5],
      ['a', 'x', 8],
      ['a', 'x', 10],
      ['b', 'x', 10],
      ['d', 'x', 2],
      ['z', 'x', 1_000_000],
    ]);
    expect(out).toEqual(['[d@2/2]=1@2', '[b@5/10]=2@10', '[a@8/10]=2@10']);
  });

  it('tells also of a session that ends where the retention does', async () => {
    const records: Input[] = [
      ['a', 'x', 28],
      ['a', 'x', 13],
    ];
    expect((await runTopology(count('onUpdate'), records)).out).toEqual(['[a@28/28]=1@28', '[a@13/13]=1@13']);
    expect((await runTopology(count('onCommit'), records)).out).toEqual(['[a@28/28]=1@28', '[a@13/13]=1@13']);
  });

  it('tells the last state of each session on commit, and nothing of sessions that came and went', async () => {
    const { out } = await runTopology(count('onCommit'), [['a', 'x', 10]], { emit: 'onCommit' });
    expect(out).toEqual(['[a@10/10]=1@10']);
  });
});

describe('a reduce by session', () => {
  it('combines sessions and then the record, oldest first', async () => {
    const reduce = (builder: StreamsBuilder): void =>
      write(
        builder
          .stream('in', strings)
          .groupByKey()
          .windowedBy(windows)
          .reduce((all, value) => `${all}+${value}`),
      );
    const { out } = await runTopology(reduce, [
      ['a', '1', 10],
      ['a', '2', 20],
      ['a', '3', 15],
    ]);
    expect(out.at(-1)).toBe('[a@10/20]=1+2+3@20');
  });
});

describe('an aggregate by session', () => {
  const aggregate =
    (later: boolean) =>
    (builder: StreamsBuilder): void => {
      const given = <T>(value: T): T | Promise<T> => (later ? Promise.resolve(value) : value);
      const table = builder
        .stream('in', strings)
        .groupByKey()
        .windowedBy(windows)
        .aggregate(
          () => given('0'),
          (all: string, value) => given(`${all}+${value}`),
          (one, other) => given(`${one}&${other}`),
          { materialized: { valueSerde: serdes.string } },
        );
      write(table, later);
    };

  it('starts from the initial aggregate, merges the sessions into it, then adds the value', async () => {
    const { out } = await runTopology(aggregate(false), [
      ['a', '1', 10],
      ['a', '2', 12],
    ]);
    expect(out.at(-1)).toBe('[a@10/12]=0&0+1+2@12');
  });

  it('gives the same with user functions that answer later', async () => {
    const input = fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), fc.nat(40));
    await fc.assert(
      fc.asyncProperty(fc.array(input, { maxLength: 20 }), async (inputs) => {
        expect(await runTopology(aggregate(true), inputs as Input[])).toEqual(await runTopology(aggregate(false), inputs));
      }),
      { numRuns: 30 },
    );
  });
});

describe('session windows', () => {
  it.each([{ gap: -1 }, { gap: 1.5 }, { gap: 1, grace: -1 }])('refuse %p', (options) => {
    expect(() => sessions(options)).toThrow('MILL_CONFIG_INVALID');
  });

  it('need a retention of gap and grace at least', () => {
    const declare = (builder: StreamsBuilder): void => {
      builder
        .stream('in', strings)
        .groupByKey()
        .windowedBy(windows)
        .count({ materialized: { storeName: 's', retention: 14 } });
    };
    return expect(runTopology(declare, [])).rejects.toThrow('MILL_TOPOLOGY_INVALID');
  });
});
