import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { createQueryServer } from '../../src/query-server/index.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { Logger } from '../../src/observability/logger.js';
import type { QueryServer, QueryServerOptions } from '../../src/query-server/index.js';
import { serdes } from '../../src/serdes/serdes.js';
import { stores } from '../../src/stores/stores.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { sessions } from '../../src/time/session-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { MemoryDisk, until } from '../queries/in-memory-app.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Instance {
  readonly app: StreamsApp;
  readonly server: QueryServer;
  /** Status and body. */
  get(path: string, headers?: Record<string, string>): Promise<{ status: number; body: Body }>;
}

type Body = Readonly<Record<string, unknown>>;

function topology() {
  const builder = new StreamsBuilder();
  const text = { keySerde: serdes.string, valueSerde: serdes.string };
  const clicks = builder.stream('clicks', text).groupByKey();
  clicks.count({ materialized: { storeName: 'counts' } });
  clicks.windowedBy(tumbling({ size: 1000 })).count({ materialized: { storeName: 'per-second', retention: 100_000 } });
  clicks.windowedBy(sessions({ gap: 500 })).count({ materialized: { storeName: 'visits', retention: 100_000 } });
  builder.table('prices', { ...text, materialized: { storeName: 'prices', historyRetention: 100_000 } });
  builder.globalTable('countries', { ...text, materialized: { storeName: 'countries' } });
  builder.addStateStore(stores.keyValue({ name: 'totals', keySerde: serdes.int64, valueSerde: serdes.bytes }));
  builder.stream('clicks2', text).process(
    () => ({
      init: (context) => {
        totals = context.store<KeyValueStore<bigint, Uint8Array>>('totals');
      },
      process: ({ value }) => {
        totals.put(BigInt(value), Buffer.from([0, 255]));
      },
    }),
    { stores: ['totals'] },
  );
  let totals: KeyValueStore<bigint, Uint8Array>;
  return builder.build();
}

function cluster(): InMemoryKafka {
  const kafka = inMemoryKafka();
  for (const topic of ['clicks', 'prices']) kafka.createTopic(topic, 2);
  for (const topic of ['clicks2', 'countries']) kafka.createTopic(topic, 1);
  return kafka;
}

let instances = 0;

async function instance(kafka: InMemoryKafka, options: Partial<QueryServerOptions> = {}): Promise<Instance> {
  const port = await freePort();
  const disk = new MemoryDisk(`disk-${instances++}`);
  const app = new StreamsApp(
    topology(),
    {
      applicationId: 'app',
      bootstrapServers: 'memory:9092',
      storeEngine: 'memory',
      logger: { ...silentLogger },
      heartbeatInterval: 20,
      commitInterval: 10,
      applicationServer: `127.0.0.1:${port}`,
    },
    { openPort: ({ clientId }) => kafka.port({ clientId }), openDirectory: () => Promise.resolve(disk) },
  );
  closers.push(() => app.close());
  const server = await createQueryServer(app, { port, ...options });
  closers.push(() => server.close());
  await app.start();
  await until(() => app.state === 'running');
  return {
    app,
    server,
    get: async (path, headers = {}) => {
      const response = await fetch(`${server.url}${path}`, { headers });
      return { status: response.status, body: (await response.json()) as Body };
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createTcpServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const everyone = Array.from({ length: 20 }, (_, i) => `user-${i}`);

describe('a query server', () => {
  it('answers by kind of store, in JSON', async () => {
    const kafka = cluster();
    kafka.produce('clicks', [
      { key: 'a', value: 'x', timestamp: 100 },
      { key: 'a', value: 'y', timestamp: 1100 },
    ]);
    kafka.produce('clicks2', [{ key: 'a', value: '9007199254740993', timestamp: 1 }]);
    kafka.produce('prices', [
      { key: 'p', value: '10', timestamp: 100 },
      { key: 'p', value: '12', timestamp: 200 },
    ]);
    kafka.produce('countries', [{ key: 'de', value: 'Germany', timestamp: 5 }]);
    const { get } = await instance(kafka);
    await until(async () => (await get('/stores/counts/key?key=a')).body['value'] === 2);
    expect((await get('/stores/counts/key?key=a')).body).toEqual({
      store: 'counts',
      key: 'a',
      partition: expect.any(Number),
      value: 2,
      timestamp: 1100,
      position: expect.anything(),
    });
    expect((await get('/stores/counts/key?key=')).body).toMatchObject({ key: '', value: null });
    expect((await get('/stores/counts/range?from=a&to=b&limit=10')).body).toMatchObject({
      rows: [{ key: 'a', value: 2, timestamp: 1100 }],
      cursor: null,
    });
    expect((await get('/stores/per-second/window?key=a&start=1000')).body).toMatchObject({ value: 1 });
    expect((await get('/stores/per-second/windows?key=a')).body).toMatchObject({
      rows: [
        { key: 'a', start: 0, end: 1000, value: 1, timestamp: 100 },
        { key: 'a', start: 1000, end: 2000, value: 1, timestamp: 1100 },
      ],
    });
    expect((await get('/stores/per-second/windows?from=500&reverse=true')).body).toMatchObject({ rows: [{ start: 1000 }] });
    expect((await get('/stores/visits/sessions?key=a&to=500')).body).toMatchObject({ rows: [{ start: 100, end: 100, value: 1 }] });
    expect((await get('/stores/visits/session?key=a&start=100&end=100')).body).toMatchObject({ value: 1 });
    await until(async () => (await get('/stores/prices/version?key=p')).body['value'] === '12');
    expect((await get('/stores/prices/version?key=p&asOf=150')).body).toMatchObject({ value: '10', timestamp: 100, validTo: 200 });
    expect((await get('/stores/prices/versions?key=p&ascending=true')).body).toMatchObject({
      versions: [
        { value: '10', validTo: 200 },
        { value: '12', validTo: null },
      ],
    });
    expect((await get('/stores/countries/key?key=de')).body).toMatchObject({ value: 'Germany' });
    expect((await get('/stores/countries/range')).body).toMatchObject({ rows: [{ key: 'de' }] });
    await until(async () => (await get('/stores/totals/range')).status === 200);
    await until(async () => (await get('/stores/totals/key?key=9007199254740993')).body['value'] !== null);
    expect((await get('/stores/totals/key?key=9007199254740993')).body).toMatchObject({ key: '9007199254740993', value: 'AP8=' });
    expect((await get('/health')).body).toEqual({ state: 'running' });
    const listed = (await get('/stores')).body as unknown as readonly { readonly name: string }[];
    expect(listed.map(({ name }) => name).sort()).toEqual(['countries', 'counts', 'per-second', 'prices', 'totals', 'visits']);
    expect(listed).toContainEqual(expect.objectContaining({ name: 'counts', kind: 'keyValue', keySerde: 'string', partitions: 2 }));
  });

  it('asks the instance that has the key, and follows keys when instances come and go', async () => {
    const kafka = cluster();
    kafka.produce(
      'clicks',
      everyone.map((key) => ({ key, value: 'x', timestamp: 1 })),
    );
    const a = await instance(kafka);
    const b = await instance(kafka);
    const answersAll = async ({ get }: Instance): Promise<boolean> => {
      const answers = await Promise.all(everyone.map((key) => get(`/stores/counts/key?key=${key}`)));
      return answers.every(({ status, body }) => status === 200 && body['value'] === 1);
    };
    await until(async () => (await answersAll(a)) && (await answersAll(b)));
    await until(() => a.app.metadataForAll().length === 2 && b.app.metadataForAll().length === 2);
    const local = await Promise.all([a, b].map(async ({ get }) => ((await get('/stores/counts/range')).body['rows'] as unknown[]).length));
    expect(local.reduce((sum, count) => sum + count)).toBe(everyone.length);
    expect(Math.min(...local)).toBeGreaterThan(0);
    const byPartition = await Promise.all([0, 1].map((partition) => a.get(`/stores/counts/range?partition=${partition}`)));
    expect(byPartition.map(({ status }) => status)).toEqual([200, 200]);
    expect(byPartition.flatMap(({ body }) => body['rows'] as unknown[])).toHaveLength(everyone.length);
    const owner = await a.get('/metadata/counts/key?key=user-1');
    expect(owner.body).toMatchObject({ store: 'counts', active: { applicationServer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) } });
    await b.server.close();
    await b.app.close();
    await until(() => answersAll(a));
  });

  it('does not send a request round for ever', async () => {
    const kafka = cluster();
    const a = await instance(kafka);
    await instance(kafka);
    await until(() => a.app.metadataForStore('counts').length === 2);
    const answers = await Promise.all(everyone.map((key) => a.get(`/stores/counts/key?key=${key}`, { 'x-millrace-hops': '2' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 508]));
  });

  it('says when the other instance does not answer in time', async () => {
    const kafka = cluster();
    const a = await instance(kafka, { forwardTimeout: 50 });
    const b = await instance(kafka);
    await until(() => a.app.metadataForStore('counts').length === 2);
    const port = b.server.port;
    await b.server.close();
    const mute = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(port, '127.0.0.1', resolve));
    closers.push(async () => {
      mute.closeAllConnections();
      mute.close();
    });
    const answers = await Promise.all(everyone.map((key) => a.get(`/stores/counts/key?key=${key}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 502]));
    expect(answers.find(({ status }) => status === 502)?.body).toMatchObject({ error: { code: 'MILL_QUERY_FORWARD' } });
  });

  it('refuses what is wrong, and says why', async () => {
    const { get } = await instance(cluster());
    const cases = [
      ['/stores/none/key?key=a', 404, 'MILL_TOPOLOGY_UNKNOWN_STORE'],
      ['/stores/counts/windows', 400, 'MILL_STORE_WRONG_TYPE'],
      ['/stores/counts/key', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/key?key=a&key=b', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/key?key=a&colour=red', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/key?key=a&isolation=dirty', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/key?key=a&atLeast=1', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/range?limit=1001', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/range?limit=0', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/range?after=x', 400, 'MILL_QUERY_INVALID'],
      ['/stores/per-second/window?key=a&start=soon', 400, 'MILL_QUERY_INVALID'],
      ['/stores/totals/key?key=1.5', 400, 'MILL_QUERY_INVALID'],
      ['/stores/totals/key?key=9223372036854775808', 400, 'MILL_QUERY_INVALID'],
      // Not 503: however often it is asked again, there is no such partition.
      ['/stores/counts/key?key=a&partition=77', 400, 'MILL_QUERY_INVALID'],
      ['/stores/counts/range?partition=2', 400, 'MILL_QUERY_INVALID'],
      ['/stores/countries/key?key=a&partition=1', 400, 'MILL_QUERY_INVALID'],
      ['/stores/%FF/key?key=a', 400, 'BAD_REQUEST'],
      ['/stores/counts/key?key=a&atLeast={"clicks":{"0":99,"1":99}}', 503, 'MILL_STORE_NOT_UP_TO_BOUND'],
      ['/else', 404, 'NOT_FOUND'],
    ] as const;
    for (const [path, status, code] of cases) {
      const answer = await get(path);
      expect([path, answer.status, answer.body]).toEqual([path, status, { error: { code, message: expect.any(String) } }]);
    }
  });

  it('gives long ranges in pages', async () => {
    const kafka = cluster();
    kafka.produce(
      'clicks',
      everyone.map((key) => ({ key, value: 'x', timestamp: 1 })),
    );
    const { get } = await instance(kafka, { defaultLimit: 7 });
    await until(async () => ((await get('/stores/counts/range?limit=100')).body['rows'] as unknown[]).length === everyone.length);
    const keys: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: Body } = await get(`/stores/counts/range?${cursor === '' ? '' : `after=${cursor}`}`);
      keys.push(...(body['rows'] as readonly { readonly key: string }[]).map(({ key }) => key));
      cursor = body['cursor'] as string | null;
    }
    expect(keys).toEqual([...everyone].sort());
  });

  it('asks for credentials where it is told to', async () => {
    const { get } = await instance(cluster(), { authorize: ({ headers }) => headers['authorization'] === 'Bearer secret' });
    expect((await get('/health')).status).toBe(401);
    expect((await get('/health', { authorization: 'Bearer secret' })).status).toBe(200);
  });

  it('tells the log, and nobody else, what an answer with 500 is about', async () => {
    const logged: [Record<string, unknown>, string][] = [];
    const logger: Logger = {
      ...silentLogger,
      error: (fields, message) => void logged.push([{ ...fields }, message]),
    };
    const fault = new Error('the directory of users is down');
    const { get } = await instance(cluster(), {
      logger,
      authorize: ({ url }) => {
        if (url.startsWith('/metadata')) throw fault;
        return true;
      },
    });
    const answer = await get('/metadata/counts/key?key=mine', { authorization: 'Bearer secret' });
    expect([answer.status, answer.body]).toEqual([
      500,
      { error: { code: 'INTERNAL', message: 'The query failed; the log of the instance says why.' } },
    ]);
    expect(logged).toEqual([[{ err: fault, path: '/metadata/counts/key' }, 'a query failed: the directory of users is down']]);
    expect((await get('/stores/none/key?key=a')).status).toBe(404);
    expect(logged).toHaveLength(1);
  });

  it('tells the logger of the app when it has none of its own', async () => {
    const logged: unknown[] = [];
    const { app, get } = await instance(cluster());
    app.logger.error = (fields) => void logged.push(fields);
    app.stores = () => {
      throw new TypeError('no list');
    };
    expect((await get('/stores')).status).toBe(500);
    expect(logged).toMatchObject([{ err: { message: 'no list', stack: expect.stringContaining('TypeError: no list') }, path: '/stores' }]);
  });

  it('answers 503 before the app runs, and refuses options that make no sense', async () => {
    const app = new StreamsApp(topology(), { applicationId: 'app', bootstrapServers: 'memory:9092' });
    const server = await createQueryServer(app, { port: 0 });
    closers.push(() => server.close());
    const answer = await fetch(`${server.url}/stores/counts/range`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ state: 'created' });
    await expect(createQueryServer(app, { port: -1, maxLimit: 0 })).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    await server.close();
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  it.each([
    [{ port: 0, authorise: () => false }, 'createQueryServer has no option authorise; did you mean authorize?'],
    [{ port: 0, maxLimits: 3 }, 'createQueryServer has no option maxLimits; did you mean maxLimit?'],
    [{ port: 0, authorize: true }, 'createQueryServer: the option authorize must be a function, not true.'],
    [{ port: 0, forwardProtocol: 'ftp' }, 'createQueryServer: the option forwardProtocol must be "http" or "https", not "ftp".'],
    [undefined, 'createQueryServer: the options must be an object, not undefined.'],
  ])('does not start with an option that it does not know: %j', async (options, message) => {
    const app = new StreamsApp(topology(), { applicationId: 'app', bootstrapServers: 'memory:9092' });
    const server = createQueryServer(app, options as QueryServerOptions);
    await expect(server).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) });
  });

  it.each([[{}], [undefined], ['app']])('does not start for what is no app: %j', async (app) => {
    await expect(createQueryServer(app as never, { port: 0 })).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      message: expect.stringContaining('createQueryServer: the app must be a StreamsApp'),
    });
  });
});
