/** Where libraries of this kind were seen to lose, double or reorder data on a real broker: each test is named after what was seen. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  serdes,
  StreamsBuilder,
  tumbling,
  type KeyValueStore,
  type Processor,
  type ProcessorContext,
  type Record,
  type StreamsApp,
} from '../../src/index.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import { JobRun } from '../faults/job-run.js';
import type { ReadRecord } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';
import { Scenario, text, type Written } from './scenario.js';

const scenarios: (Scenario | JobRun)[] = [];
afterEach(async () => {
  for (const scenario of scenarios.splice(0)) await scenario.end();
});

async function begin(name: string): Promise<Scenario> {
  const scenario = await Scenario.begin(name);
  scenarios.push(scenario);
  return scenario;
}

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const numbers = { valueSerde: serdes.json<number>() };

/** Last value of each key. */
function last(records: readonly ReadRecord[]): Map<string | null, string | null> {
  return new Map(records.map(({ key, value }) => [key, text(value)]));
}

/** Waits until each of the apps runs a task. */
async function allWork(...apps: readonly StreamsApp[]): Promise<void> {
  await until('every instance has work', () =>
    apps.every((app) => app.state === 'running' && Object.values(app.metrics().tasks).some(({ active }) => active)),
  );
}

describe('seen elsewhere', () => {
  it('count too high with a disk store: values written before the commit stayed after the crash', async () => {
    const run = await JobRun.create('disk-ahead', { keys: 5000 });
    scenarios.push(run);
    const instance = run.instance();
    run.input.start(3000);
    for (let kill = 0; kill < 3; kill++) {
      instance.start();
      await instance.untilState('running');
      const before = (await run.output.mapped.poll()).length;
      await instance.untilSo('it works', async () => (await run.output.mapped.poll()).length > before + 1000);
      await instance.kill();
    }
    await run.input.stop();
    instance.start();
    expect(await run.differences(90_000)).toEqual([]);
    await instance.close();
  });

  it('windowed count too low with two instances: changelog records were partitioned by the windowed key', async () => {
    const scenario = await begin('windowed-moves');
    const [from, to] = [await scenario.topic('in', 4), await scenario.topic('out', 4)];
    const build = () => {
      const builder = new StreamsBuilder();
      builder
        .stream(from, strings)
        .groupByKey()
        .windowedBy(tumbling({ size: 60_000, grace: 60_000 }))
        .count({ materialized: { storeName: 'windowed' } })
        .toStream()
        .selectKey((_, window) => `${window.key}@${window.window.start}`, { keySerde: serdes.string })
        .to(to, numbers);
      return builder.build();
    };
    const keys = 40;
    const now = Math.floor(Date.now() / 60_000) * 60_000;
    const round = (): Written[] =>
      Array.from({ length: keys * 2 }, (_, i) => ({ key: `k${i % keys}`, value: 'x', timestamp: now - 60_000 * Math.floor(i / keys) }));
    const expectCounts = async (n: number): Promise<void> => {
      const tail = scenario.tail(to);
      await until(
        `every window counts ${n}`,
        async () => [...last(await tail.poll()).values()].filter((count) => count === `${n}`).length === 2 * keys,
        60_000,
        () => scenario.story(),
      );
      expect(last(tail.records).size).toBe(2 * keys);
    };
    const a = await scenario.running(build());
    await scenario.write(from, round());
    await expectCounts(1);
    const b = await scenario.running(build());
    await allWork(a, b);
    await scenario.write(from, round());
    await expectCounts(2);
    await a.close();
    await scenario.write(from, round());
    await expectCounts(3);
    const c = await scenario.running(build());
    await allWork(b, c);
    await b.close();
    await scenario.write(from, round());
    await expectCounts(4);
  });

  it('groupBy wrong with two instances: no repartition really happened', async () => {
    const scenario = await begin('group-by');
    const [from, to] = [await scenario.topic('in', 4), await scenario.topic('out', 1)];
    const build = () => {
      const builder = new StreamsBuilder();
      builder
        .stream(from, strings)
        .groupBy((value) => value, { keySerde: serdes.string })
        .count()
        .toStream()
        .to(to, numbers);
      return builder.build();
    };
    const [a, b] = [scenario.app(build()), scenario.app(build())];
    await Promise.all([a.start(), b.start()]);
    await allWork(a, b);
    await scenario.write(
      from,
      Array.from({ length: 600 }, (_, i) => ({ key: `k${i}`, value: `word-${i % 7}` })),
    );
    const tail = scenario.tail(to);
    const sum = (): number => [...last(tail.records).values()].reduce((total, n) => total + Number(n), 0);
    await until(
      'every word is counted',
      async () => (await tail.poll()).length > 0 && sum() >= 600,
      60_000,
      () => scenario.story(),
    );
    expect(last(tail.records)).toEqual(new Map(Array.from({ length: 7 }, (_, i) => [`word-${i}`, `${i < 600 % 7 ? 86 : 85}`])));
  });

  it('joins null with two instances: stream and table partitions were assigned apart', async () => {
    const scenario = await begin('joined-apart');
    const [stream, table, out] = [await scenario.topic('stream', 4), await scenario.topic('table', 4), await scenario.topic('out', 1)];
    const build = () => {
      const builder = new StreamsBuilder();
      const rows = builder.table(table, strings);
      builder
        .stream(stream, strings)
        .leftJoin(rows, (value, row) => `${value}+${row}`)
        .to(out, { valueSerde: serdes.string });
      return builder.build();
    };
    const keys = Array.from({ length: 200 }, (_, i) => `k${i}`);
    await scenario.write(
      table,
      keys.map((key) => ({ key, value: `row of ${key}`, timestamp: 1000 })),
    );
    const [a, b] = [scenario.app(build()), scenario.app(build())];
    await Promise.all([a.start(), b.start()]);
    await allWork(a, b);
    await scenario.write(
      stream,
      keys.map((key) => ({ key, value: key, timestamp: 2000 })),
    );
    expect(last(await scenario.read(out, 200))).toEqual(new Map(keys.map((key) => [key, `${key}+row of ${key}`])));
  });

  it('5,000 of 5,000 stream–table joins null although every table row was older', async () => {
    const scenario = await begin('older-rows');
    const [stream, table, out] = [await scenario.topic('stream'), await scenario.topic('table'), await scenario.topic('out')];
    const keys = Array.from({ length: 5000 }, (_, i) => `k${i}`);
    await scenario.write(
      stream,
      keys.map((key, i) => ({ key, value: key, timestamp: 1_000_000 + i })),
    );
    await scenario.write(
      table,
      keys.map((key, i) => ({ key, value: 'row', timestamp: 1000 + i })),
    );
    const builder = new StreamsBuilder();
    const input = builder.stream(stream, strings);
    input.leftJoin(builder.table(table, strings), (_, row) => row ?? 'null').to(out, { valueSerde: serdes.string });
    await scenario.running(builder.build());
    const joined = await scenario.read(out, 5000);
    expect(joined.filter(({ value }) => text(value) !== 'row')).toHaveLength(0);
  });

  it('output carried wall-clock time, input timestamps lost, in changelogs too', async () => {
    const scenario = await begin('timestamps');
    const [from, plain, counted] = [await scenario.topic('in'), await scenario.topic('plain'), await scenario.topic('counted')];
    const builder = new StreamsBuilder();
    const input = builder.stream(from, strings);
    input.mapValues((value) => value).to(plain, { valueSerde: serdes.string });
    input
      .groupBy((value) => value, { keySerde: serdes.string })
      .count({ emit: 'onUpdate', materialized: { storeName: 'counts' } })
      .toStream()
      .to(counted, numbers);
    await scenario.write(
      from,
      [5000, 9000, 7000].map((timestamp) => ({ key: 'k', value: 'v', timestamp })),
    );
    await scenario.running(builder.build());
    expect((await scenario.read(plain, 3)).map(({ timestamp }) => timestamp)).toEqual([5000, 9000, 7000]);
    expect((await scenario.read(counted, 3)).map(({ timestamp }) => timestamp)).toEqual([5000, 9000, 9000]);
    const changelog = await scenario.read(`${scenario.id}-counts-changelog`, 1);
    expect(changelog[changelog.length - 1]?.timestamp).toBe(9000);
  });

  it.each([1, 4])(
    'one consumer’s records reordered once it lagged, then lost by a commit past the gap: %i partition(s)',
    async (partitions) => {
      const scenario = await begin('lagging');
      const [from, to] = [await scenario.topic('in', partitions), await scenario.topic('out', partitions)];
      const first = { isSlow: true };
      const builder = new StreamsBuilder();
      builder
        .stream(from, strings)
        .mapValues(async (value) => {
          if (first.isSlow) await delay(6000);
          first.isSlow = false;
          return value;
        })
        .to(to, { valueSerde: serdes.string });
      await scenario.running(builder.build(), { maxBufferedBytes: 256 * 1024 });
      let written = 0;
      while (first.isSlow || written < 4000) {
        await scenario.write(
          from,
          Array.from({ length: 10 }, (_, i) => ({ key: `k${(written + i) % 16}`, value: `${written + i}`.padStart(200, '0') })),
        );
        written += 10;
      }
      const records = await scenario.read(to, written);
      expect(records).toHaveLength(written);
      for (let partition = 0; partition < partitions; partition++) {
        const values = records.filter((record) => record.partition === partition).map(({ value }) => Number(text(value)));
        expect(values).toEqual([...values].sort((x, y) => x - y));
      }
      expect(new Set(records.map(({ value }) => text(value))).size).toBe(written);
    },
  );

  it('an idle consumer’s long poll blocked everybody else on the same connection: two groups and an idle one in a process', async () => {
    const [idle, first, second] = [await begin('idle'), await begin('first'), await begin('second')];
    const pass = (from: string, to: string) => {
      const builder = new StreamsBuilder();
      builder.stream(from, strings).to(to);
      return builder.build();
    };
    await idle.running(pass(await idle.topic('in'), await idle.topic('out')));
    const records = Array.from({ length: 20_000 }, (_, i) => ({ key: `k${i}`, value: 'x'.repeat(100) }));
    const began = await Promise.all(
      [first, second].map(async (scenario) => {
        const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
        await scenario.running(pass(from, to));
        const startedAt = performance.now();
        await scenario.write(from, records);
        await scenario.read(to, records.length);
        return performance.now() - startedAt;
      }),
    );
    // A blocked connection takes half a second for each fetch.
    for (const ms of began) expect(ms).toBeLessThan(20_000);
  });

  it('start() threw right after a crash, because the old member’s session had time to live', async () => {
    const run = await JobRun.create('crash-restart');
    scenarios.push(run);
    const instance = run.instance();
    instance.start();
    await instance.untilState('running');
    await run.input.send(100);
    expect(await run.differences()).toEqual([]);
    await instance.kill();
    instance.start();
    await instance.untilState('running');
    await run.input.send(100);
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });

  it('concurrent processing of one partition lost updates: read–modify–write across awaits', async () => {
    const scenario = await begin('async-updates');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    class CountSlowly implements Processor<string, string, string, number> {
      private context!: ProcessorContext<string, number>;
      private store!: KeyValueStore<string, number>;
      init(context: ProcessorContext<string, number>): void {
        this.context = context;
        this.store = context.store('counts');
      }
      async process({ key }: Record<string, string>): Promise<void> {
        const count = this.store.get(key) ?? 0;
        await delay(Math.random() * 2);
        this.store.put(key, count + 1);
        await this.context.forward({ key, value: count + 1 });
      }
    }
    const builder = new StreamsBuilder();
    builder.addStateStore(keyValueStore({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.json<number>() }));
    builder
      .stream(from, strings)
      .process(() => new CountSlowly(), { stores: ['counts'], keySerde: serdes.string, valueSerde: serdes.json<number>() })
      .to(to);
    await scenario.write(
      from,
      Array.from({ length: 1000 }, (_, i) => ({ key: `k${i % 3}`, value: 'x' })),
    );
    await scenario.running(builder.build());
    const records = await scenario.read(to, 1000);
    for (let key = 0; key < 3; key++) {
      const counts = records.filter((record) => record.key === `k${key}`).map(({ value }) => Number(text(value)));
      expect(counts).toEqual(counts.map((_, i) => i + 1));
    }
    expect(records).toHaveLength(1000);
  });
});
