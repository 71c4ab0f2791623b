/** Changes held back: `suppress`. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilTimeLimit, untilWindowCloses, type Suppressed } from '../../src/dsl/suppressed.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import { runTopology, strings, write } from './run-topology.js';

function suppressed(until: Suppressed, later = false) {
  return (builder: StreamsBuilder): void => write(builder.table('in', strings).suppress(until), later);
}

describe('suppress until a time limit', () => {
  it('lets the last change of a row through once its first one is old enough', async () => {
    const { out } = await runTopology(suppressed(untilTimeLimit(10)), [
      ['a', '1', 0],
      ['a', '2', 5],
      ['b', '1', 9],
      ['b', '2', 10],
      ['c', '1', 19],
    ]);
    expect(out).toEqual(['a=2@5', 'b=2@10']);
  });

  it('gives the same when what is downstream answers later', async () => {
    const inputs = [
      ['a', '1', 0],
      ['b', '1', 1],
      ['c', '1', 30],
    ] as const;
    expect(await runTopology(suppressed(untilTimeLimit(10), true), inputs)).toEqual(
      await runTopology(suppressed(untilTimeLimit(10)), inputs),
    );
  });

  it('lets everything through at once with a limit of 0', async () => {
    expect((await runTopology(suppressed(untilTimeLimit(0)), [['a', '1', 7]])).out).toEqual(['a=1@7']);
  });

  it('lets the oldest rows through when there are too many', async () => {
    const { out } = await runTopology(suppressed(untilTimeLimit(Infinity, { maxRecords: 1 })), [
      ['a', '1', 0],
      ['a', '2', 1],
      ['b', '1', 2],
    ]);
    expect(out).toEqual(['a=2@1']);
  });

  it('stops the app when there are too many and it is told so', async () => {
    const declare = suppressed(untilTimeLimit(Infinity, { maxRecords: 1, whenFull: 'shutDown' }));
    const inputs = [
      ['a', '1', 0],
      ['b', '1', 1],
    ] as const;
    await expect(runTopology(declare, inputs)).rejects.toThrow('MILL_BUFFER_FULL');
  });

  it('holds any number of rows when it may spill', async () => {
    const declare = suppressed(untilTimeLimit(10, { maxRecords: 1, whenFull: 'spill' }));
    const { out } = await runTopology(declare, [
      ['a', '1', 0],
      ['b', '1', 1],
      ['c', '1', 11],
    ]);
    expect(out).toEqual(['a=1@0', 'b=1@1']);
  });

  it('lets deletions through', async () => {
    const { out } = await runTopology(suppressed(untilTimeLimit(5)), [
      ['a', '1', 0],
      ['a', null, 1],
      ['b', '1', 6],
    ]);
    expect(out).toEqual(['a=null@1']);
  });
});

describe('suppress until windows close', () => {
  it('lets each window through once', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        builder
          .stream('in', strings)
          .groupByKey()
          .windowedBy(tumbling({ size: 10, grace: 5 }))
          .count()
          .suppress(untilWindowCloses()),
      );
    const { out } = await runTopology(declare, [
      ['a', 'x', 1],
      ['a', 'x', 2],
      ['a', 'x', 14],
      ['a', 'x', 3],
      ['a', 'x', 15],
    ]);
    expect(out).toEqual(['[a@0/10]=3@3']);
  });

  it('waits for all changes of a commit: a later window’s may come before the last one of a window that it closes', async () => {
    const builder = new StreamsBuilder();
    write(
      builder
        .stream('in', strings)
        .groupByKey()
        .windowedBy(tumbling({ size: 10, grace: 92 }))
        .count({ emit: 'onCommit' })
        .suppress(untilWindowCloses()),
    );
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const input = driver.inputTopic('in', strings);
    await input.pipe('a', 'x', { timestamp: 5 });
    await driver.commit();
    for (const timestamp of [100, 6, 105]) await input.pipe('a', 'x', { timestamp });
    await driver.commit();
    const finals = driver.outputTopic('out', strings).readAll();
    expect(finals.map(({ key, value }) => `${key}=${value}`)).toEqual(['[a@0/10]=2']);
  });

  it('leaves out the sessions that became part of longer ones', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        builder
          .stream('in', strings)
          .groupByKey()
          .windowedBy(sessions({ gap: 5 }))
          .count()
          .filter((count) => count > 1)
          .suppress(untilWindowCloses()),
      );
    const { out } = await runTopology(declare, [
      ['a', 'x', 1],
      ['a', 'x', 4],
      ['b', 'x', 100],
      ['b', 'x', 101],
    ]);
    expect(out).toEqual(['[a@1/4]=2@4']);
  });

  it('refuses a table that does not come from windows, and early results', () => {
    const table = new StreamsBuilder().table('in', strings);
    expect(() => table.suppress(untilWindowCloses())).toThrow('MILL_TOPOLOGY_INVALID');
    expect(() => untilWindowCloses({ whenFull: 'emitEarly' as 'spill' })).toThrow('MILL_CONFIG_INVALID');
    expect(() => untilTimeLimit(-1)).toThrow('MILL_CONFIG_INVALID');
  });
});
