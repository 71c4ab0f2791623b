import { describe, expect, it } from '@jest/globals';
import type { RunUntilEndOptions } from '../../src/app/run-until-end.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilWindowCloses } from '../../src/dsl/suppressed.js';
import { serdes } from '../../src/serdes/serdes.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Topology } from '../../src/topology/nodes.js';
import { boundedRuns, type BoundedRuns, type Running } from './harness/bounded-runs.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

const runs = boundedRuns();
const begin = (...given: Parameters<BoundedRuns['begin']>): Running => runs.current.begin(...given);
const finished = (...all: Running[]): Promise<void> => runs.current.finished(...all);
const lines = (topic: string): string[] => runs.current.lines(topic);
const feed = (...given: Parameters<BoundedRuns['feed']>): void => runs.current.feed(...given);

/** Final windows, a count through a repartition topic whose windows are told once more, and calls on the way. */
function job(): Topology {
  const builder = new StreamsBuilder();
  const input = builder.stream('in', texts).mapValuesAsync(
    async (value) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
      return value;
    },
    { name: 'call', valueSerde: serdes.string },
  );
  input
    .groupByKey()
    .windowedBy(tumbling({ size: 100, grace: 0 }))
    .count({ emit: 'onWindowClose', materialized: { storeName: 'finals' } })
    .toStream()
    .map((count, { key, window }): [string, string] => [`${key}@${window.start}`, String(count)])
    .to('finals', texts);
  input
    .selectKey((value) => value, { keySerde: serdes.string })
    .groupByKey({ name: 'by-value' })
    // The repartition topic brings the records of two partitions, not in the order of their times.
    .windowedBy(tumbling({ size: 100, grace: 100_000 }))
    .count({ materialized: { storeName: 'counts' } })
    .suppress(untilWindowCloses())
    .toStream()
    .map((count, { key, window }): [string, string] => [`${key}@${window.start}`, String(count)])
    .to('counts', texts);
  return builder.build();
}

const records = (from: number, count: number): (readonly [string, string, number])[] =>
  Array.from({ length: count }, (_, i) => [`k${(from + i) % 5}`, `v${(from + i) % 3}`, (from + i) * 7] as const);

/** Each window of each key once, with all of its records. */
function wanted(
  all: readonly (readonly [string, string, number])[],
  keyOf: (record: readonly [string, string, number]) => string,
): string[] {
  const counts = new Map<string, number>();
  for (const record of all) {
    const name = `${keyOf(record)}@${Math.floor(record[2] / 100) * 100}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name}=${count}`).sort();
}

describe('runUntilEnd', () => {
  it('processes what is there, tells every window once, closes, and says what it did', async () => {
    const all = records(0, 200);
    feed('in', all);
    const run = begin(job());
    await finished(run);
    expect(lines('finals').sort()).toEqual(wanted(all, ([key]) => key));
    expect(lines('counts').sort()).toEqual(wanted(all, ([, value]) => value));
    expect(run.app.state).toBe('notRunning');
    expect(run.summary?.recordsIn).toBe(400);
    expect(run.summary?.epochs).toBeGreaterThan(0);
    const { in: ends } = run.summary?.offsets as Record<string, Record<number, number>>;
    expect((ends?.[0] ?? 0) + (ends?.[1] ?? 0)).toBe(200);
  });

  it('leaves records that come later to the next run', async () => {
    feed('in', records(0, 50));
    const first = begin(job(), { finalResults: false });
    await runs.current.world.run(20, () => first.app.state === 'running');
    feed('in', records(50, 50));
    await finished(first);
    const { in: ends } = first.summary?.offsets as Record<string, Record<number, number>>;
    const read = (ends?.[0] ?? 0) + (ends?.[1] ?? 0);
    expect(read).toBeLessThan(100);
    await finished(begin(job()));
    expect(lines('finals').sort()).toEqual(wanted(records(0, 100), ([key]) => key));
    expect(lines('counts').sort()).toEqual(wanted(records(0, 100), ([, value]) => value));
  });

  it('ends at once when there is nothing to read, and when everything was read before', async () => {
    await finished(begin(job()));
    feed('in', records(0, 20));
    await finished(begin(job()));
    const told = lines('finals');
    await finished(begin(job()));
    expect(lines('finals')).toEqual(told);
  });

  it('goes on after kill -9 in the middle, at any moment, exactly once', async () => {
    const all = records(0, 150);
    feed('in', all);
    const random = new Random(11);
    const disk = new InMemoryDirectory('one');
    for (let kill = 0; kill < 6; kill++) {
      const run = begin(job(), {}, disk);
      await runs.current.world.run(random.int(50, 900));
      run.process.isDead = true;
    }
    await finished(begin(job(), {}, disk));
    expect(lines('finals').sort()).toEqual(wanted(all, ([key]) => key));
    expect(lines('counts').sort()).toEqual(wanted(all, ([, value]) => value));
  });

  it('several instances share the work and all come to the end', async () => {
    const all = records(0, 300);
    feed('in', all);
    const three = ['one', 'two', 'three'].map((name) => begin(job(), {}, new InMemoryDirectory(name)));
    await finished(...three);
    expect(lines('finals').sort()).toEqual(wanted(all, ([key]) => key));
    expect(lines('counts').sort()).toEqual(wanted(all, ([, value]) => value));
  });

  it('sub-topologies that feed each other end together: a foreign-key join', async () => {
    const builder = new StreamsBuilder();
    const orders = builder.table('in', texts);
    const customers = builder.table('other', texts);
    orders
      .join(customers, (order, customer) => `${order}+${customer}`, { foreignKey: (order) => order.slice(0, 1), name: 'join' })
      .toStream()
      .to('out', texts);
    feed('other', [
      ['a', 'Ada', 1],
      ['b', 'Bob', 1],
    ]);
    feed('in', [
      ['1', 'a-1', 2],
      ['2', 'b-2', 2],
      ['3', 'c-3', 2],
    ]);
    const two = ['one', 'two'].map((name) => begin(builder.build(), {}, new InMemoryDirectory(name)));
    await finished(...two);
    const rows = new Map(lines('out').map((line) => line.split('=') as [string, string]));
    expect([...rows].sort()).toEqual([
      ['1', 'a-1+Ada'],
      ['2', 'b-2+Bob'],
    ]);
  });

  it('ends a foreign-key join of windows: what is told at the end comes back as answers, and is not told again for them', async () => {
    const builder = new StreamsBuilder();
    const names = builder.table('other', { ...texts, materialized: { storeName: 'names' } });
    builder
      .stream('in', texts)
      .groupByKey()
      .windowedBy(tumbling({ size: 100 }))
      .count({ emit: 'onWindowClose', materialized: { storeName: 'finals' } })
      .join(names, (count, name) => `${count} ${name}`, {
        name: 'named',
        foreignKey: () => 'x',
        materialized: { storeName: 'named-counts', valueSerde: serdes.string },
      })
      .toStream()
      .map((value, { key, window }): [string, string | null] => [`${key}@${window.start}`, value], texts)
      .to('out', texts);
    feed('other', [['x', 'of x', 1]]);
    feed('in', [
      ['a', '1', 10],
      ['b', '2', 20],
    ]);
    await finished(begin(builder.build()));
    expect(lines('out').sort()).toEqual(['a@0=1 of x', 'b@0=1 of x']);
    feed('other', [['x', 'again', 2]]);
    await finished(begin(builder.build()));
    expect(lines('out').sort()).toEqual(['a@0=1 again', 'a@0=1 of x', 'b@0=1 again', 'b@0=1 of x']);
  });

  it('tells what waits for time: records without a partner, windows by watermarks', async () => {
    const builder = new StreamsBuilder();
    const left = builder.stream('in', { ...texts, watermarks: watermarks.monotonous() });
    const right = builder.stream('other', texts);
    left
      .leftJoin(right, (value, partner) => `${value}+${partner ?? 'nobody'}`, {
        windows: joinWindows({ before: 1000, after: 1000, grace: 1000 }),
        storeName: 'pairs',
        valueSerde: serdes.string,
      })
      .to('out', texts);
    left
      .keyBy()
      .window(tumblingEventTime({ size: 100 }))
      .aggregate(
        { initial: () => '', add: (all: string, value: string) => all + value, result: (all) => all },
        { name: 'w', accumulatorSerde: serdes.string },
      )
      .map((value, { key }) => [key, value] as const)
      .to('counts', texts);
    feed('in', [
      ['a', 'x', 10],
      ['a', 'y', 20],
      ['b', 'z', 30],
    ]);
    feed('other', [['b', 'p', 40]]);
    await finished(begin(builder.build()));
    expect(lines('out').sort()).toEqual(['a=x+nobody', 'a=y+nobody', 'b=z+p']);
    expect(lines('counts').sort()).toEqual(['a=xy', 'b=z']);
  });

  it('holds no aligned partition back for one that has ended', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...texts, watermarks: watermarks.monotonous({ alignment: { maxDrift: 1_000 } }) })
      .mapValues((value) => new Promise<string>((resolve) => setTimeout(() => resolve(value), 20)), { valueSerde: serdes.string })
      .to('out', texts);
    const of = (partition: number, count: number, step: number) =>
      Array.from({ length: count }, (_, i) => ({ partition, key: 'k', value: 'v', timestamp: i * step }));
    runs.current.kafka.produce('in', [...of(0, 60, 1), ...of(1, 300, 1_000)]);
    await finished(begin(builder.build()));
    expect(lines('out')).toHaveLength(360);
  });

  it('reads what matches a pattern at the start', async () => {
    const builder = new StreamsBuilder();
    builder.stream(/^(in|other)$/, texts).to('out', texts);
    feed('in', [['a', '1', 1]]);
    feed('other', [['b', '2', 1]]);
    await finished(begin(builder.build()));
    expect(lines('out').sort()).toEqual(['a=1', 'b=2']);
  });

  it('does not start with an option that it does not know', async () => {
    const wrong = begin(job(), { finalResult: false } as RunUntilEndOptions);
    await expect(finished(wrong)).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      message: expect.stringContaining('runUntilEnd has no option finalResult; did you mean finalResults?'),
    });
    expect(wrong.app.state).toBe('created');
    const typed = begin(job(), { finalResults: 'no' } as unknown as RunUntilEndOptions);
    await expect(finished(typed)).rejects.toMatchObject({
      message: expect.stringContaining('the option finalResults must be true or false, not "no"'),
    });
  });

  it('rejects with what stopped the app, and when it is closed or aborted before the end', async () => {
    feed('in', [['a', '1', 1]]);
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .mapValues((): string => {
        throw new Error('no');
      })
      .to('out', texts);
    await expect(finished(begin(builder.build()))).rejects.toMatchObject({ code: 'MILL_PROCESSING' });

    const held = new StreamsBuilder();
    held
      .stream('in', texts)
      .mapValuesAsync(() => new Promise<string>(() => undefined), { name: 'held', valueSerde: serdes.string })
      .to('out', texts);
    const closed = begin(held.build());
    await runs.current.world.run(3000);
    runs.current.world.as(closed.process, () => void closed.app.close());
    await expect(finished(closed)).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });

    const stop = new AbortController();
    const aborted = begin(held.build(), { signal: stop.signal }, new InMemoryDirectory('two'));
    await runs.current.world.run(3000);
    runs.current.world.as(aborted.process, () => {
      stop.abort(new Error('enough'));
    });
    await expect(finished(aborted)).rejects.toThrow('enough');
    expect(aborted.app.state).toBe('notRunning');
  });
});
