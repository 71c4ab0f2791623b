import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
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

/** A call that takes so long, ms of virtual time. */
const takes =
  (ms: number) =>
  (value: string): Promise<string> =>
    new Promise((resolve) => setTimeout(() => resolve(value), ms));

/** Counts by key of what calls of 100 ms have gone through, four at a time. */
function slowJob(mode: 'streaming' | 'batch'): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('in', texts)
    .mapValuesAsync(takes(100), { name: 'call', concurrency: 4, valueSerde: serdes.string })
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

/** The last line of each key of `finals`. */
function latest(): string[] {
  const rows = new Map(runs.current.lines('finals').map((line) => line.split('=') as [string, string]));
  return [...rows].map((row) => row.join('=')).sort();
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

  it('is over for a task whose input has ended: no timer of the wall clock brings more', async () => {
    const timed = (mode: 'streaming' | 'batch'): Topology => {
      const builder = new StreamsBuilder();
      builder
        .stream('in', texts)
        .process<string, string>(
          () => ({
            init: (context) => {
              let ticks = 0;
              context.schedule({ interval: 100, time: 'wallClock' }, () =>
                context.forward({ key: 'tick', value: `${++ticks}`, timestamp: 5 }),
              );
            },
            process: () => undefined,
          }),
          { name: 'ticks', ...texts },
        )
        .toTable({ name: 'by-tick', materialized: { storeName: 'ticks', ...texts } })
        .toStream({ name: 'told' })
        .to('finals', texts);
      builder
        .stream('other', texts)
        .mapValuesAsync(takes(200), { name: 'slow', concurrency: 1, valueSerde: serdes.string })
        .to('out', texts);
      return builder.build({ mode });
    };
    runs.current.feed('in', [['a', '1', 1]]);
    runs.current.feed('other', records(0, 20));
    await runs.current.finished(runs.current.begin(timed('batch')));
    expect(runs.current.lines('out')).toHaveLength(20);
    expect(runs.current.lines('finals').length).toBeLessThanOrEqual(1);
    const told = runs.current.lines('finals');
    await runs.current.finished(runs.current.begin(timed('streaming')));
    expect(runs.current.lines('finals')).toEqual(told);
  });

  it('tells a join by foreign keys with one by foreign keys when the answers of both are here', async () => {
    const firstOf = (value: string): string => value.slice(0, 1);
    const builder = new StreamsBuilder();
    const orders = builder.table('in', { ...texts, materialized: { storeName: 'orders' } });
    const rows = builder.table('other', { ...texts, materialized: { storeName: 'rows' } });
    const both = (one: string, other: string | null): string => `${one}>${other}`;
    const inner = rows.join(rows, both, { name: 'inner', foreignKey: firstOf, materialized: { storeName: 'inner-rows', ...texts } });
    orders
      .leftJoin(inner, both, { name: 'outer', foreignKey: firstOf, materialized: { storeName: 'outer-rows', ...texts } })
      .toStream({ name: 'told' })
      .to('finals', texts);
    runs.current.feed('in', [['1', 'a', 1]]);
    runs.current.feed('other', [
      ['a', 'b', 1],
      ['b', 'b', 1],
    ]);
    const two = ['one', 'two'].map((name) => runs.current.begin(builder.build({ mode: 'batch' }), {}, new InMemoryDirectory(name)));
    await runs.current.finished(...two);
    expect(runs.current.lines('finals')).toEqual(['1=a>b>b']);
  });

  it.each([1000, Infinity])(
    'tells what windows that were open in streaming have got since (allowed lateness %d)',
    async (allowedLateness) => {
      const windows = (mode: 'streaming' | 'batch'): Topology => {
        const builder = new StreamsBuilder();
        builder
          .stream('in', { ...texts, watermarks: watermarks.monotonous() })
          .keyBy()
          .window(tumblingEventTime({ size: 100 }), { allowedLateness })
          .reduce((one, other) => one + other, { name: 'w', valueSerde: serdes.string })
          .map((value, { key, window }) => [`${key}@${window.start}`, value] as [string, string], texts)
          .to('finals', texts);
        return builder.build({ mode });
      };
      runs.current.feed('in', [
        ['a', '1', 10],
        ['a', '2', 150],
      ]);
      const { app, process } = runs.current.app(windows('streaming'));
      runs.current.world.as(process, () => void app.start());
      expect(await runs.current.world.run(60_000, () => runs.current.lines('finals').length === 1)).toBe(true);
      let closed = false;
      runs.current.world.as(process, () => void app.close().then(() => (closed = true)));
      expect(await runs.current.world.run(60_000, () => closed)).toBe(true);
      runs.current.feed('in', [
        ['a', '3', 160],
        ['a', '4', 20],
      ]);
      await runs.current.finished(runs.current.begin(windows('batch')));
      expect(runs.current.lines('finals').sort()).toEqual(['a@0=1', 'a@0=14', 'a@100=23']);
    },
  );

  it('does not share the group with a topology for streaming: the later one is refused, what runs goes on, and the other may follow', async () => {
    const { current } = runs;
    const [one, other] = ['one', 'other'].map((name) => new InMemoryDirectory(name));
    const refused = (mode: string, there: string) => ({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringMatching(new RegExp(`built for ${mode} mode.*built for ${there} mode.*Let the other instances end first`)),
    });
    const streaming = current.app(slowJob('streaming'), one);
    const becomes = (app: { readonly state: string }, state: string) => current.world.run(60_000, () => app.state === state);
    current.world.as(streaming.process, () => void streaming.app.start());
    expect(await becomes(streaming.app, 'running')).toBe(true);
    await expect(current.finished(current.begin(slowJob('batch'), {}, other))).rejects.toMatchObject(refused('batch', 'streaming'));
    current.feed('in', records(0, 20));
    const isCounted = (): boolean => latest().join() === counted(records(0, 20), 0).sort().join();
    expect(await current.world.run(60_000, isCounted)).toBe(true);
    expect(streaming.app.state).toBe('running');
    current.world.as(streaming.process, () => void streaming.app.close());
    expect(await becomes(streaming.app, 'notRunning')).toBe(true);

    current.feed('in', records(20, 100));
    const batch = current.begin(slowJob('batch'), {}, other);
    expect(await becomes(batch.app, 'running')).toBe(true);
    await expect(current.finished(current.begin(slowJob('streaming'), {}, one))).rejects.toMatchObject(refused('streaming', 'batch'));
    await current.finished(batch);
    expect(latest()).toEqual(counted(records(0, 120), 0).sort());
  });

  it('follows streaming, and is followed by it, also with static members, whose places others have left', async () => {
    const [one, two] = ['one', 'two'].map((name) => new InMemoryDirectory(name));
    const nights = [
      { mode: 'batch', disks: [one, two] },
      { mode: 'streaming', disks: [one] },
      { mode: 'streaming', disks: [one, two] },
      { mode: 'batch', disks: [two] },
    ] as const;
    for (const [night, { mode, disks }] of nights.entries()) {
      runs.current.feed('in', records(night * 10, 10));
      await runs.current.finished(
        ...disks.map((disk, seat) => runs.current.begin(job(mode), {}, disk, { groupInstanceId: `seat-${disk?.processId ?? seat}` })),
      );
    }
    expect(latest()).toEqual(counted(records(0, 40), 0).sort());
  });
});
