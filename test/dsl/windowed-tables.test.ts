/** What all tables of windows have in common: they can be joined and filtered, and tell each row once a commit. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KGroupedStream } from '../../src/dsl/kgrouped-stream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import type { TableEmitOption } from '../../src/dsl/options.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping } from '../../src/time/time-windows.js';
import type { Windowed } from '../../src/time/windowed.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

type Count = (grouped: KGroupedStream<string, string>, emit: TableEmitOption) => KTable<Windowed<string>, number>;

const kinds: readonly (readonly [string, Count])[] = [
  ['hopping', (grouped, emit) => grouped.windowedBy(hopping({ size: 10, advance: 5, grace: 20 })).count({ emit })],
  ['sliding', (grouped, emit) => grouped.windowedBy(sliding({ timeDifference: 5, grace: 20 })).count({ emit })],
  ['session', (grouped, emit) => grouped.windowedBy(sessions({ gap: 3, grace: 30 })).count({ emit })],
];

const inputs = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constant('x'), fc.nat(30)), { maxLength: 15 }) as fc.Arbitrary<Input[]>;

function last(rows: readonly string[]): Map<string, string> {
  return new Map(rows.map((row) => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]));
}

describe.each(kinds)('a table of %s windows', (_name, count) => {
  it('tells on commit what the updates came to, each row once', async () => {
    await fc.assert(
      fc.asyncProperty(inputs, async (records) => {
        const declare = (emit: TableEmitOption) => (builder: StreamsBuilder) =>
          write(count(builder.stream('in', strings).groupByKey(), emit));
        const updates = last((await runTopology(declare('onUpdate'), records)).out);
        const builder = new StreamsBuilder();
        declare('onCommit')(builder);
        await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
        for (const [key, value, timestamp] of records) await driver.inputTopic('in', strings).pipe(key, value, { timestamp });
        await driver.commit();
        const commits = driver.outputTopic('out', strings).readAll();
        const rows = commits.map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${timestamp}`);
        expect(new Set(rows.map((row) => row.slice(0, row.indexOf('=')))).size).toBe(rows.length);
        const present = [...updates].filter(([, value]) => !value.startsWith('null'));
        expect([...last(rows)].sort()).toEqual(present.sort());
      }),
      { numRuns: 25 },
    );
  });

  it('can be joined with another one', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const left = count(builder.stream('in', strings).groupByKey(), 'onUpdate');
      const right = count(builder.stream('other', strings).groupByKey(), 'onUpdate');
      write(left.join(right, (one, other) => `${one}&${other}`));
    };
    const { out } = await runTopology(declare, [
      ['a', 'x', 6],
      ['a', 'x', 6, 'other'],
      ['a', 'x', 6],
    ]);
    expect(out.some((row) => row.includes('=1&1@6'))).toBe(true);
    expect(out.at(-1)).toContain('=2&1@6');
  });
});
