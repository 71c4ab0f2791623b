import { afterEach, describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { StreamsApp } from '../../src/app/streams-app.js';
import type { StreamsConfig } from '../../src/app/config.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { queries } from '../../src/queries/query.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { sessions } from '../../src/time/session-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import type { Topology } from '../../src/topology/nodes.js';
import { MemoryDisk, produce, until } from './in-memory-app.js';

const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

const text = { keySerde: serdes.string, valueSerde: serdes.string };

function topology(): Topology {
  const builder = new StreamsBuilder();
  const clicks = builder.stream('clicks', text).groupByKey();
  clicks.count({ materialized: { storeName: 'counts' } });
  clicks.windowedBy(tumbling({ size: 1000 })).count({ materialized: { storeName: 'per-second', retention: 100_000 } });
  clicks.windowedBy(sessions({ gap: 500 })).count({ materialized: { storeName: 'visits', retention: 100_000 } });
  builder.table('prices', { ...text, materialized: { storeName: 'prices', historyRetention: 100_000 } });
  builder.globalTable('countries', { ...text, materialized: { storeName: 'countries' } });
  return builder.build();
}

function cluster() {
  const kafka = inMemoryKafka();
  kafka.createTopic('clicks', 2);
  kafka.createTopic('prices', 2);
  kafka.createTopic('countries', 1);
  const make = (config: Partial<StreamsConfig> = {}): StreamsApp => {
    const app = new StreamsApp(
      topology(),
      {
        applicationId: 'app',
        bootstrapServers: 'memory:9092',
        storeEngine: 'memory',
        heartbeatInterval: 20,
        commitInterval: 10,
        ...config,
      },
      { openPort: ({ clientId }) => kafka.port({ clientId }), openDirectory: () => Promise.resolve(new MemoryDisk(`disk-${apps.length}`)) },
    );
    apps.push(app);
    return app;
  };
  return { kafka, make };
}

describe('the stores of an app', () => {
  it('can’t be read before the start and after the end, and the error says so', async () => {
    const { make } = cluster();
    const app = make();
    const counts = app.store<string, number>('counts');
    await expect(counts.get('a')).rejects.toMatchObject({ code: 'MILL_STORE_NOT_AVAILABLE' });
    await app.start();
    await until(() => app.state === 'running');
    expect(await counts.get('a')).toBeNull();
    await app.close();
    await expect(counts.get('a')).rejects.toMatchObject({ code: 'MILL_STORE_NOT_AVAILABLE' });
    await expect(app.query({ store: 'counts', query: queries.key('a') })).rejects.toMatchObject({ code: 'MILL_STORE_NOT_AVAILABLE' });
    expect(() => app.store('other')).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_UNKNOWN_STORE' }));
    expect(() => app.store('counts', { kind: 'window' })).toThrow(expect.objectContaining({ code: 'MILL_STORE_WRONG_TYPE' }));
  });

  it('are read by kind, with the position that an answer reflects', async () => {
    const { kafka, make } = cluster();
    await produce(kafka, 'countries', 0, [['de', 'Germany', 5]]);
    const app = make();
    await app.start();
    await until(() => app.state === 'running');
    const at = await produce(kafka, 'clicks', 1, [
      ['a', 'x', 100],
      ['a', 'y', 1100],
      ['b', 'z', 1200],
    ]);
    await produce(kafka, 'prices', 0, [
      ['p', '10', 100],
      ['p', '12', 200],
    ]);
    const atLeast = { clicks: { 1: at } };
    expect(await app.store<string, number>('counts', { atLeast, partitioner: () => 1 }).get('a')).toBe(2);
    const perSecond = app.store<string, number>('per-second', { kind: 'window', atLeast });
    expect(await perSecond.fetchAll().toArray()).toEqual([
      { key: 'a', start: 0, end: 1000, value: 1, timestamp: 100 },
      { key: 'a', start: 1000, end: 2000, value: 1, timestamp: 1100 },
      { key: 'b', start: 1000, end: 2000, value: 1, timestamp: 1200 },
    ]);
    const visits = app.store<string, number>('visits', { kind: 'session' });
    expect(await visits.fetch('a', { from: 1000 }).toArray()).toEqual([{ key: 'a', start: 1100, end: 1100, value: 1 }]);
    const prices = app.store<string, string>('prices', { kind: 'versioned', atLeast: { prices: { 0: 1 } } });
    expect(await prices.get('p', { asOf: 150 })).toEqual({ value: '10', timestamp: 100, validTo: 200 });
    expect(await app.store<string, string>('countries').get('de')).toBe('Germany');
    const global = await app.query({ store: 'countries', query: queries.timestampedKey<string, string>('de') });
    expect([global.only, global.position]).toEqual([{ value: 'Germany', timestamp: 5 }, { countries: { 0: 0 } }]);
    const all = await app.query({ store: 'counts', query: queries.range<string, number>() });
    expect(all.position).toMatchObject({ clicks: { 1: at } });
    for (const { result } of all.successes) await result.close();
  });

  it('are shared out: each instance answers for what it runs, and names what it does not', async () => {
    const { kafka, make } = cluster();
    await produce(kafka, 'clicks', 0, [['zero', 'x', 1]]);
    await produce(kafka, 'clicks', 1, [['one', 'x', 1]]);
    const [a, b] = [make(), make()];
    await a.start();
    await until(() => a.state === 'running');
    const everything = a.store<string, number>('counts', { atLeast: { clicks: { 0: 0, 1: 0 } } });
    expect(await everything.all().toArray()).toHaveLength(2);
    await b.start();
    const keysOf = async (app: StreamsApp): Promise<string[]> =>
      (
        await app
          .store<string, number>('counts')
          .all()
          .toArray()
          .catch(() => [])
      ).map(({ key }) => key);
    await until(async () => (await keysOf(a)).length === 1 && (await keysOf(b)).length === 1);
    expect([...(await keysOf(a)), ...(await keysOf(b))].sort()).toEqual(['one', 'zero']);
    const asked = await a.query({ store: 'counts', query: queries.key<string, number>('one'), partitions: [0, 1] });
    expect(asked.failures).toMatchObject([{ reason: 'notPresent' }]);
    await a.close();
    await until(async () => (await keysOf(b)).length === 2);
  });

  it('have types', () => {
    const { make } = cluster();
    const app = make();
    expectTypeOf(app.store<string, number>('counts').get).returns.resolves.toEqualTypeOf<number | null>();
    expectTypeOf(app.store<string, number>('per-second', { kind: 'window' }).fetch('a').next)
      .returns.resolves.toHaveProperty('value')
      .toExtend<{ readonly key: string; readonly start: number; readonly end: number; readonly value: number } | undefined>();
    expectTypeOf(app.store<string, number>('visits', { kind: 'session' }).get).returns.resolves.toEqualTypeOf<number | null>();
    const ask = () => app.query({ store: 'counts', query: queries.key<string, number>('a') });
    expectTypeOf(ask).returns.resolves.toHaveProperty('only').toEqualTypeOf<number | null | undefined>();
    // @ts-expect-error the key is a string
    const wrongKey = (): unknown => app.store<string, number>('counts').get(1);
    expectTypeOf(app.store<string, number>('counts')).not.toHaveProperty('fetch');
    expect(wrongKey).toBeInstanceOf(Function);
  });
});
