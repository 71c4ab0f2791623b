import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsApp, type StreamsState } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { queries } from '../../src/queries/query.js';
import { serdes } from '../../src/serdes/serdes.js';
import { StateDirectory } from '../../src/stores/state-directory.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

function copy(options: typeof text | null = text) {
  const builder = new StreamsBuilder();
  builder.stream('in', options ?? {}).to('out', options ?? {});
  return builder.build();
}

/** A broker that takes connections and never says anything. Emits `asked` at each request. */
let silent: Server;
let stateDir: string;
const sockets = new Set<Socket>();
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'millrace-app-'));
  silent = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => silent.emit('asked'));
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  silent.close();
  await rm(stateDir, { recursive: true, force: true });
});

function appOf(changes: { readonly bootstrapServers?: string; readonly requestTimeout?: number } = {}) {
  const { port } = silent.address() as AddressInfo;
  const states: StreamsState[] = [];
  const app = new StreamsApp(copy(), { applicationId: 'app', bootstrapServers: `127.0.0.1:${port}`, stateDir, ...changes });
  app.on('state', (state) => states.push(state));
  return { app, states };
}

describe('a new app', () => {
  it('names every node without a serde', () => {
    expect(() => new StreamsApp(copy(null), { applicationId: 'app', bootstrapServers: 'localhost:9092' })).toThrow(
      expect.objectContaining({
        code: 'MILL_CONFIG_INVALID',
        details: {
          faults: [
            'source KSTREAM-SOURCE-0000000000, which reads in, has no key serde and there is no defaultKeySerde',
            'source KSTREAM-SOURCE-0000000000, which reads in, has no value serde and there is no defaultValueSerde',
            'sink KSTREAM-SINK-0000000001, which writes out, has no key serde and there is no defaultKeySerde',
            'sink KSTREAM-SINK-0000000001, which writes out, has no value serde and there is no defaultValueSerde',
          ],
        },
      }),
    );
  });

  it('refuses emitOnChange without exactly-once: a crash could lose results', () => {
    const builder = new StreamsBuilder();
    builder.table('in', { keySerde: serdes.string, valueSerde: serdes.string, emitOnChange: true, materialized: { storeName: 'rows' } });
    const topology = builder.build();
    const config = { applicationId: 'app', bootstrapServers: 'localhost:9092' } as const;
    expect(() => new StreamsApp(topology, { ...config, processingGuarantee: 'at_least_once' })).toThrow(
      expect.objectContaining({
        code: 'MILL_CONFIG_INVALID',
        details: {
          faults: [
            'store rows belongs to a table with emitOnChange, which could lose results after a crash with processingGuarantee "at_least_once"',
          ],
        },
      }),
    );
    expect(() => new StreamsApp(topology, config)).not.toThrow();
  });

  it('has metrics before it starts', () => {
    expect(JSON.parse(JSON.stringify(appOf().app.metrics()))).toEqual({
      state: 'created',
      paused: false,
      restarts: { numRestarts: 0, uncaughtErrors: 0, attempt: 0, lastFailure: null },
      tasks: {},
      epochs: null,
      thread: null,
      producer: null,
      fetcher: null,
      group: null,
      threads: {},
      standbys: {},
      memory: null,
      restoring: [],
      globalTables: null,
      droppedRecords: 0,
    });
  });

  it('closed before its start can’t be started', async () => {
    const { app, states } = appOf();
    await app.close();
    await app.close();
    expect(states).toEqual(['notRunning']);
    await expect(app.start()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
  });
});

describe('options of calls', () => {
  const wrong = (options: object): never => options as never;
  const query = queries.key<string, string>('a');

  it.each([
    [(app: StreamsApp) => app.store('s', wrong({ isolatoin: 'uncommitted' })), 'store has no option isolatoin; did you mean isolation?'],
    [
      (app: StreamsApp) => app.store('s', wrong({ isolation: 'dirty' })),
      'the option isolation must be "committed" or "uncommitted", not "dirty"',
    ],
    [(app: StreamsApp) => app.store('s', wrong({ kind: 'list' })), 'the option kind must be "keyValue" or "window"'],
    [
      (app: StreamsApp) => app.query(wrong({ store: 's', query, isolatoin: 'committed' })),
      'query has no option isolatoin; did you mean isolation?',
    ],
    [(app: StreamsApp) => app.query(wrong({ store: 's', query, partitions: 3 })), 'query: the option partitions must be an array, not 3'],
    [
      (app: StreamsApp) => app.metadataForKey('s', 'a', wrong({ keySerd: serdes.string })),
      'metadataForKey has no option keySerd; did you mean keySerde?',
    ],
  ])('of queries are refused when they are not there, or of a wrong kind: %#', async (ask, message) => {
    const { app } = appOf();
    await expect((async (): Promise<unknown> => ask(app))()).rejects.toMatchObject({
      code: 'MILL_QUERY_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    [{ timout: 3 }, 'close has no option timout; did you mean timeout?'],
    [{ timeout: Number.NaN }, 'close: the option timeout must be milliseconds, 0 or more, not NaN'],
    [{ leaveGroup: 'no' }, 'close: the option leaveGroup must be true or false, not "no"'],
  ])('of close are refused, and nothing is closed: %j', async (options, message) => {
    const { app } = appOf();
    await expect(app.close(wrong(options))).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      message: expect.stringContaining(message),
    });
    expect(app.state).toBe('created');
    await app.close({ timeout: 1000, leaveGroup: true });
    expect(app.state).toBe('notRunning');
  });
});

describe('a start that fails', () => {
  it('leaves nothing behind: the state directory is free, and the state says so', async () => {
    const { app, states } = appOf({ bootstrapServers: '127.0.0.1:1', requestTimeout: 500 });
    await expect(app.start()).rejects.toMatchObject({ code: 'MILL_BROKER_UNREACHABLE' });
    expect(states).toEqual(['rebalancing', 'error']);
    await app.close();
    const again = await StateDirectory.acquire({ stateDir, applicationId: 'app' });
    await again.release();
  });

  it('names a state directory that another instance uses', async () => {
    const other = await StateDirectory.acquire({ stateDir, applicationId: 'app' });
    await expect(appOf().app.start()).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    await other.release();
  });

  it('can’t be started again', async () => {
    const { app } = appOf({ bootstrapServers: '127.0.0.1:1', requestTimeout: 500 });
    await expect(app.start()).rejects.toThrow();
    await expect(app.start()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
  });
});

describe('close() during start()', () => {
  it('ends the start, which says why, and frees the state directory', async () => {
    const { app, states } = appOf({ requestTimeout: 2000 });
    const asked = once(silent, 'asked');
    const started = app.start().catch((error: unknown) => error);
    await asked;
    const closings = Promise.all([app.close({ timeout: 20_000 }), app.close()]);
    expect(await started).toMatchObject({ code: 'MILL_STATE_INVALID', message: expect.stringContaining('closed while it started') });
    await closings;
    expect(states).toEqual(['rebalancing', 'pendingShutdown', 'notRunning']);
    const again = await StateDirectory.acquire({ stateDir, applicationId: 'app' });
    await again.release();
  });

  it('at once opens nothing afterwards', async () => {
    const { app, states } = appOf({ requestTimeout: 500 });
    const started = app.start().catch((error: unknown) => error);
    await app.close();
    expect(await started).toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect(states.at(-1)).toBe('notRunning');
    expect(app.metrics().group).toBeNull();
    const again = await StateDirectory.acquire({ stateDir, applicationId: 'app' });
    await again.release();
  });
});

describe('listeners', () => {
  it('that throw do no harm', async () => {
    const { app } = appOf();
    app.on('state', () => {
      throw new Error('listener');
    });
    await app.close();
    expect(app.state).toBe('notRunning');
  });

  it('are taken away by what `on` returns', async () => {
    const { app } = appOf();
    let told = 0;
    app.on('state', () => told++)();
    await app.close();
    expect(told).toBe(0);
  });
});
