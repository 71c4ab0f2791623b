import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import { silentLogger } from '../../src/observability/logger.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import type { StandbyProgress } from '../../src/runtime/standby-listener.js';
import { StandbyTasks, type StandbyTasksOptions } from '../../src/runtime/standby-tasks.js';
import { TaskMetrics } from '../../src/runtime/task-metrics.js';
import { StateOpener } from '../../src/runtime/state-opener.js';
import type { TaskPlan } from '../../src/runtime/task-plan.js';
import { yieldToIo } from '../../src/runtime/wakeup.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import { TaskState } from '../../src/stores/task-state.js';
import { deferred } from './harness/task-rig.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';

const changelog = 'app-counts-changelog';
const spec = stores.keyValue({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.string });

let directory: string;
let kafka: InMemoryKafka;
let open: StandbyTasks[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-standby-'));
  kafka = inMemoryKafka();
  kafka.createTopic(changelog, 2);
});
afterEach(async () => {
  for (const standbys of open) await standbys.close();
  open = [];
  await rm(directory, { recursive: true, force: true });
});

const unlogged = stores.keyValue({ name: 'scratch', keySerde: serdes.string, valueSerde: serdes.string, logged: false });

const planOf = async (id: string): Promise<TaskPlan> =>
  ({
    id,
    partition: Number(id.split('_')[1]),
    stores: [spec],
    changelogs: [{ store: 'counts', topic: changelog, partition: Number(id.split('_')[1]), topicId: null }],
  }) as unknown as TaskPlan;

interface Told {
  readonly starts: StandbyProgress[];
  readonly batches: StandbyProgress[];
  readonly ends: [StandbyProgress, string][];
  readonly warm: string[];
  readonly warnings: string[];
  largestBuffer: number;
  ports: number;
}

function standbys(
  options: Partial<StandbyTasksOptions> & { readonly engine?: 'leveldb' | 'memory'; readonly maxBufferedBytes?: number } = {},
) {
  const told: Told = { starts: [], batches: [], ends: [], warm: [], warnings: [], largestBuffer: 0, ports: 0 };
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => told.warnings.push(message) };
  const made = new StandbyTasks({
    openPort: async () => {
      told.ports++;
      const port = kafka.port({ clientId: 'standby' });
      await port.connect();
      return port;
    },
    openFetcher: (port, onData, onError) => {
      let buffered = 0;
      const fetcher: Fetcher = new Fetcher(port, {
        isolation: 'read_committed',
        maxBufferedBytes: () => options.maxBufferedBytes ?? 1_000_000,
        autoOffsetReset: () => 'none',
        logger: silentLogger,
        onData: (chunk) => {
          told.largestBuffer = Math.max(told.largestBuffer, (buffered += chunk.byteLength));
          onData(chunk);
        },
        onError,
      });
      const consumed = fetcher.consumed.bind(fetcher);
      fetcher.consumed = (bytes, partition) => {
        buffered -= bytes;
        consumed(bytes, partition);
      };
      return fetcher;
    },
    planOf,
    states: new StateOpener({
      open: (given, { cacheBytes }) => TaskState.open({ ...given, cacheBytes: cacheBytes() }),
      taskDirectory: (id) => join(directory, id),
      emitsOnCommit: true,
      defaultEngine: options.engine ?? 'leveldb',
      storeSerdes: (given) => new SerdeDefaults(null, null).ofStore(given),
      shared: { cacheBytes: () => 100_000, wanted: () => [] },
      logger: silentLogger,
      metrics: () => new TaskMetrics(),
      onWritten: () => undefined,
    }),
    isolation: 'read_committed',
    clusterId: null,
    listener: {
      onUpdateStart: (progress) => told.starts.push(progress),
      onBatch: (progress) => told.batches.push(progress),
      onUpdateSuspended: (progress, reason) => told.ends.push([progress, reason]),
    },
    logger,
    pause: yieldToIo,
    clock: () => performance.now(),
    acceptableRecoveryLag: 0,
    onWarm: (id) => told.warm.push(id),
    ...options,
  });
  open.push(made);
  return { made, told };
}

const feed = (count: number, from = 0, partition = 0): void =>
  kafka.produce(
    changelog,
    Array.from({ length: count }, (_, i) => ({ key: `k${from + i}`, value: `v${from + i}`, partition })),
  );

const storeOf = (made: StandbyTasks, id = '0_0'): KeyValueStore<string, string> =>
  made.tasks.get(id)!.state.store('counts') as KeyValueStore<string, string>;
const none: ReadonlySet<string> = new Set();

async function until(condition: () => boolean, what = 'the standby'): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not get there`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const caughtUp = (made: StandbyTasks, position: number, id = '0_0'): Promise<void> =>
  until(() => made.tasks.get(id)?.stores[0]?.position === position);

describe('a standby', () => {
  it('needs no connection before there is one', () => {
    const { made, told } = standbys();
    made.assign([], [], none);
    expect(told.ports).toBe(0);
  });

  it('reads what is in the changelog, follows what comes, and can be read', async () => {
    feed(3);
    const { made, told } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 3);
    expect(storeOf(made).get('k1')).toBe('v1');
    kafka.produce(changelog, [{ key: 'k1', value: 'new', partition: 0 }]);
    await caughtUp(made, 4);
    expect(storeOf(made).get('k1')).toBe('new');
    expect(made.tasks.get('0_0')!.lag).toBe(0);
    expect(told.starts).toMatchObject([{ taskId: '0_0', store: 'counts', startOffset: 0, endOffset: 3, lag: 3 }]);
    expect(told.batches.reduce((sum, { batchRecords }) => sum + batchRecords, 0)).toBe(4);
    expect(told.batches.at(-1)).toMatchObject({ position: 4, lag: 0, recordsApplied: 4 });
  });

  it('goes on from where it stood when it is wanted again', async () => {
    feed(5);
    const { made, told } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 5);
    made.assign([], [], none);
    await until(() => told.ends.length === 1);
    expect(told.ends[0]).toMatchObject([{ position: 5 }, 'migrated']);
    feed(2, 5);
    made.assign(['0_0'], [], none);
    await caughtUp(made, 7);
    expect(told.starts.at(-1)).toMatchObject({ startOffset: 5 });
    expect(storeOf(made).get('k0')).toBe('v0');
  });

  it.each(['leveldb', 'memory'] as const)(
    'in %s gives its open state to the task that takes over, as far as it has got',
    async (engine) => {
      feed(5);
      const { made, told } = standbys({ engine });
      made.assign(['0_0'], [], none);
      await caughtUp(made, 5);
      made.assign([], [], new Set(['0_0']));
      expect(made.ids).toEqual(['0_0']);
      const opened = await made.release('0_0');
      expect(opened!.state.position('counts', { topic: changelog, topicId: null, clusterId: null })).toBe(5);
      expect((opened!.state.store('counts') as KeyValueStore<string, string>).get('k4')).toBe('v4');
      expect(told.ends).toMatchObject([[{ position: 5 }, 'promoted']]);
      expect(made.ids).toEqual([]);
      await opened!.state.close({ clean: true });
    },
  );

  it('that is not there has nothing to give', async () => {
    const { made } = standbys();
    expect(await made.release('0_0')).toBeNull();
  });

  it('is opened by the next only when it is closed', async () => {
    feed(5);
    const { made } = standbys();
    for (let i = 0; i < 5; i++) {
      made.assign(['0_0'], [], none);
      made.assign([], [], none);
    }
    expect(await made.release('0_0')).toBeNull();
    const state = await TaskState.open({
      taskId: '0_0',
      directory: join(directory, '0_0'),
      specs: [spec],
      defaultEngine: 'leveldb',
      serdes: (given) => new SerdeDefaults(null, null).ofStore(given),
      cacheBytes: 0,
      logger: silentLogger,
    });
    await state.close({ clean: true });
  });

  it('that is being closed is waited for by whoever takes its task', async () => {
    feed(5);
    const { made } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 5);
    const { state } = made.tasks.get('0_0')!;
    const close = state.close.bind(state);
    const closing = deferred();
    state.close = async (options) => {
      await closing.promise;
      await close(options);
    };
    made.assign([], [], none);
    let isFree = false;
    const released = made.release('0_0').finally(() => {
      isFree = true;
    });
    for (let turn = 0; turn < 20; turn++) await yieldToIo();
    const wasFree = isFree;
    closing.resolve();
    expect([await released, wasFree]).toEqual([null, false]);
  });

  it('holds no more in memory than its fetcher may buffer', async () => {
    const value = 'x'.repeat(10_000);
    kafka.produce(
      changelog,
      Array.from({ length: 100 }, (_, i) => ({ key: `k${i}`, value, partition: 0 })),
    );
    const { made, told } = standbys({ maxBufferedBytes: 50_000 });
    made.assign(['0_0'], [], none);
    await caughtUp(made, 100);
    expect(told.largestBuffer).toBeLessThan(100_000);
  });

  it('gives its state up only after the batch that it has in hand', async () => {
    feed(2000);
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    let isHeld = false;
    let slices = 0;
    const { made } = standbys({
      // The first slice is over at once, and the next does not come before it may.
      clock: () => (isHeld ? performance.now() : performance.now() + 10 * slices++),
      pause: async () => {
        isHeld = true;
        await stopped;
      },
    });
    made.assign(['0_0'], [], none);
    await until(() => isHeld);
    let isGiven = false;
    const released = made.release('0_0').then((opened) => {
      isGiven = true;
      return opened;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isGiven).toBe(false);
    stop();
    const opened = await released;
    // What was applied of the batch is not noted.
    expect(opened!.state.position('counts', { topic: changelog, topicId: null, clusterId: null })).not.toBe(2000);
    await opened!.state.close({ clean: false });
  });

  it('takes turns: the event loop runs between slices of a large batch', async () => {
    feed(2000);
    let pauses = 0;
    const { made } = standbys({
      clock: () => pauses * 10 + performance.now(),
      pause: () => {
        pauses++;
        return yieldToIo();
      },
    });
    made.assign(['0_0'], [], none);
    await caughtUp(made, 2000);
    expect(pauses).toBeGreaterThan(0);
  });

  it('keeps nothing of stores without a changelog from when the task ran here', async () => {
    const before = await TaskState.open({
      taskId: '0_0',
      directory: join(directory, '0_0'),
      specs: [spec, unlogged],
      defaultEngine: 'leveldb',
      serdes: (given) => new SerdeDefaults(null, null).ofStore(given),
      cacheBytes: 1000,
      logger: silentLogger,
    });
    (before.store('scratch') as KeyValueStore<string, string>).put('k', 'old');
    before.freeze(1, { append: () => undefined });
    before.committed(1, new Map());
    await before.close({ clean: true });
    feed(1);
    const { made } = standbys({ planOf: async (id) => ({ ...(await planOf(id)), stores: [spec, unlogged] }) });
    made.assign(['0_0'], [], none);
    await caughtUp(made, 1);
    expect((made.tasks.get('0_0')!.state.store('scratch') as KeyValueStore<string, string>).get('k')).toBeNull();
  });

  it('whose position was compacted away restores whole', async () => {
    feed(5);
    const { made, told } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 5);
    made.assign([], [], none);
    await until(() => told.ends.length === 1);
    feed(5, 5);
    await kafka.port().admin.deleteRecords([{ topic: changelog, partition: 0, offset: 8 }]);
    made.assign(['0_0'], [], none);
    await caughtUp(made, 10);
    expect(storeOf(made).get('k0')).toBeNull();
    expect(storeOf(made).get('k9')).toBe('v9');
    expect(told.warnings).toEqual([expect.stringContaining('no longer holds offset 5')]);
  });

  it('begins anew after a failure', async () => {
    feed(1);
    let failures = 2;
    const { made, told } = standbys({
      planOf: async (id) => {
        if (failures-- > 0) throw new Error('not now');
        return planOf(id);
      },
    });
    made.assign(['0_0'], [], none);
    await caughtUp(made, 1);
    expect(told.warnings).toHaveLength(2);
  });

  it('is none of the listener’s business when that fails', async () => {
    feed(1);
    const { made, told } = standbys({
      listener: {
        onBatch: () => {
          throw new Error('no');
        },
      },
    });
    made.assign(['0_0'], [], none);
    await until(() => told.warnings.includes('the standby listener failed'));
  });
});

describe('a query on a standby', () => {
  it('never leaves an older row behind than the engine has', async () => {
    feed(1);
    const { made } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 1);
    const store = storeOf(made);
    const { state } = made.tasks.get('0_0')!;
    const restore = state.restoreFlush.bind(state);
    // The row is read between the moment it was replaced and the moment the engine has it.
    state.restoreFlush = (offsets) => {
      store.get('k0');
      return restore(offsets);
    };
    kafka.produce(changelog, [{ key: 'k0', value: 'newer', partition: 0 }]);
    await caughtUp(made, 2);
    await until(() => store.get('k0') === 'newer', 'the row');
  });
});

describe('a warm-up', () => {
  it('says once that it has caught up, within the acceptable lag', async () => {
    feed(5);
    feed(1, 0, 1);
    const { made, told } = standbys({ acceptableRecoveryLag: 1 });
    made.assign(['0_0', '0_1'], ['0_0'], none);
    await until(() => told.warm.length > 0);
    await caughtUp(made, 5);
    await caughtUp(made, 1, '0_1');
    expect([...made.caughtUp].sort()).toEqual(['0_0', '0_1']);
    feed(3, 5);
    await caughtUp(made, 8);
    expect(told.warm).toEqual(['0_0']);
  });

  it('that is one from the start of an assignment says so when it had caught up before', async () => {
    feed(2);
    const { made, told } = standbys();
    made.assign(['0_0'], [], none);
    await caughtUp(made, 2);
    expect(told.warm).toEqual([]);
    made.assign(['0_0'], ['0_0'], none);
    expect(told.warm).toEqual(['0_0']);
  });
});
