import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Topology } from '../../src/topology/nodes.js';
import { boundedRuns } from './harness/bounded-runs.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const runs = boundedRuns();

/** Counts by key, and through a repartition topic by value. */
function job(mode: 'streaming' | 'batch'): Topology {
  const builder = new StreamsBuilder();
  const input = builder.stream('in', texts);
  input
    .groupByKey()
    .count({ materialized: { storeName: 'by-key' } })
    .toStream({ name: 'keys' })
    .mapValues(String, { valueSerde: serdes.string })
    .to('finals');
  input
    .groupBy((value) => value, { name: 'by-value', keySerde: serdes.string })
    .count({ materialized: { storeName: 'values' } })
    .toStream({ name: 'totals' })
    .mapValues(String, { valueSerde: serdes.string })
    .to('counts');
  return builder.build({ mode, explicitNames: 'require' });
}

/** Counts by key of what calls of 100 ms have gone through, four at a time. */
function slowJob(mode: 'streaming' | 'batch'): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('in', texts)
    .mapValuesAsync(
      async (value) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return value;
      },
      { name: 'call', concurrency: 4, valueSerde: serdes.string },
    )
    .groupByKey()
    .count({ materialized: { storeName: 'by-key' } })
    .toStream({ name: 'keys' })
    .mapValues(String, { valueSerde: serdes.string })
    .to('finals');
  return builder.build({ mode });
}

const records = (from: number, count: number): (readonly [string, string, number])[] =>
  Array.from({ length: count }, (_, i) => [`k${(from + i) % 5}`, `v${(from + i) % 3}`, (from + i) * 7] as const);

function counted(all: readonly (readonly [string, string, number])[], by: 0 | 1, only = all): string[] {
  const counts = new Map<string, number>();
  for (const record of all) counts.set(record[by], (counts.get(record[by]) ?? 0) + 1);
  const told = new Set(only.map((record) => record[by]));
  return [...counts].filter(([name]) => told.has(name)).map(([name, count]) => `${name}=${count}`);
}

describe('batch mode', () => {
  it('tells each key once, with all of its records', async () => {
    const all = records(0, 200);
    runs.current.feed('in', all);
    await runs.current.finished(runs.current.begin(job('batch')));
    expect(runs.current.lines('finals').sort()).toEqual(counted(all, 0).sort());
    expect(runs.current.lines('counts').sort()).toEqual(counted(all, 1).sort());
  });

  it('tells in the next run what has changed since, and nothing when nothing has', async () => {
    const first = records(0, 60);
    const second = [['k1', 'v1', 1000] as const, ['k2', 'v1', 1001] as const];
    runs.current.feed('in', first);
    await runs.current.finished(runs.current.begin(job('batch')));
    runs.current.feed('in', second);
    await runs.current.finished(runs.current.begin(job('batch')));
    await runs.current.finished(runs.current.begin(job('batch')));
    const expected = [...counted(first, 0), ...counted([...first, ...second], 0, second)];
    expect(runs.current.lines('finals').sort()).toEqual(expected.sort());
  });

  it('tells each key once also when it is killed at any moment, with several instances', async () => {
    const all = records(0, 150);
    runs.current.feed('in', all);
    const random = new Random(12);
    const disks = ['one', 'two'].map((name) => new InMemoryDirectory(name));
    for (let kill = 0; kill < 8; kill++) {
      const begun = disks.map((disk) => runs.current.begin(job('batch'), {}, disk));
      await runs.current.world.run(random.int(20, 900));
      for (const { process } of begun) process.isDead = true;
    }
    await runs.current.finished(...disks.map((disk) => runs.current.begin(job('batch'), {}, disk)));
    expect(runs.current.lines('finals').sort()).toEqual(counted(all, 0).sort());
    expect(runs.current.lines('counts').sort()).toEqual(counted(all, 1).sort());
  });

  it('hands its state over to streaming, and takes it back', async () => {
    runs.current.feed('in', records(0, 10));
    await runs.current.finished(runs.current.begin(job('batch')));
    runs.current.feed('in', records(10, 10));
    await runs.current.finished(runs.current.begin(job('streaming')));
    runs.current.feed('in', records(20, 10));
    await runs.current.finished(runs.current.begin(job('batch')));
    const rows = new Map(runs.current.lines('finals').map((line) => line.split('=') as [string, string]));
    expect([...rows].sort()).toEqual(
      counted(records(0, 30), 0)
        .map((line) => line.split('='))
        .sort(),
    );
  });

  it('does not start without an end, and not without final results', async () => {
    const { app, process } = runs.current.app(job('batch'));
    const refused = { code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining('runUntilEnd()') };
    await expect(runs.current.world.as(process, () => app.start())).rejects.toMatchObject(refused);
    const withoutResults = runs.current.begin(job('batch'), { finalResults: false });
    await expect(runs.current.finished(withoutResults)).rejects.toMatchObject(refused);
  });

  it('has to come to its end before a topology for streaming goes on', async () => {
    runs.current.feed('in', records(0, 100));
    const disk = new InMemoryDirectory('one');
    const killed = runs.current.begin(slowJob('batch'), {}, disk);
    const isUnderWay = (): boolean => (killed.app.metrics().epochs?.epochs ?? 0) >= 2;
    expect(await runs.current.world.run(60_000, isUnderWay)).toBe(true);
    killed.process.isDead = true;
    expect(runs.current.lines('finals')).toEqual([]);
    await expect(runs.current.finished(runs.current.begin(slowJob('streaming'), {}, disk))).rejects.toMatchObject({
      code: 'MILL_BATCH_UNFINISHED',
    });
    await runs.current.finished(runs.current.begin(slowJob('batch'), {}, disk));
    expect(runs.current.lines('finals').sort()).toEqual(counted(records(0, 100), 0).sort());
  });
});
