import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedWindowStore, WindowStore } from '../../src/stores/store.js';
import { timestampedWindowStore, windowStore } from '../../src/stores/store-builders.js';
import type { WindowStoreOptions } from '../../src/stores/store-builders.js';
import { Changelog, collect, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Counts = TimestampedWindowStore<string, number>;

describe.each(['memory', 'leveldb'] as const)('a window store over %s', (engine) => {
  const open = async (options: Partial<WindowStoreOptions<string, number>> = {}, cacheBytes?: number, directory?: string) => {
    const path = directory ?? (await directories.make());
    const state = await openState({
      directory: path,
      specs: [timestampedWindowStore({ name: 'w', engine, windowSize: 10, retention: 100, valueSerde: serdes.int32, ...options })],
      cacheBytes,
    });
    return { state, store: state.store('w') as Counts, path };
  };

  it('keeps a row for each key and window start', async () => {
    const { state, store } = await open();
    store.put('a', 1, 0, 3);
    store.put('a', 2, 10, 14);
    store.put('b', 3, 10, 15);
    expect(store.fetch('a', 0)).toBe(1);
    expect(store.fetchWithTimestamp('a', 10)).toEqual({ value: 2, timestamp: 14 });
    expect(store.fetch('b', 0)).toBeNull();
    expect(store.fetch('a', 20)).toBeNull();
    await state.close({ clean: true });
  });

  it('locates and writes', async () => {
    const { state, store } = await open();
    for (let i = 1; i <= 3; i++) {
      const entry = store.locate('a', 20);
      expect(entry.windowStart).toBe(20);
      store.write(entry, (entry.value ?? 0) + 1, i);
    }
    expect(store.fetchWithTimestamp('a', 20)).toEqual({ value: 3, timestamp: 3 });
    await state.close({ clean: true });
  });

  it('scans one key by window start, and all keys by window start then key bytes', async () => {
    const { state, store } = await open({}, 1);
    const changelog = new Changelog();
    for (const start of [30, 0, 20, 10]) for (const key of ['b', 'a', 'ab']) store.put(key, start, start, start);
    for (let epoch = 1; epoch <= 2; epoch++) {
      expect(await collect(store.fetchRange('a', 10, 30))).toEqual([10, 20, 30].map((s) => [s, { value: s, timestamp: s }]));
      expect((await collect(store.fetchRange('a', 0, 20, { reverse: true }))).map(([s]) => s)).toEqual([20, 10, 0]);
      expect((await collect(store.fetchAll(10, 20))).map(([key, s]) => `${key}@${s}`)).toEqual([
        'a@10',
        'ab@10',
        'b@10',
        'a@20',
        'ab@20',
        'b@20',
      ]);
      await commitEpoch(state, epoch, changelog);
    }
    await state.close({ clean: true });
  });

  it('reads rows older than the retention as absent, drops writes to them and counts those', async () => {
    const { state, store } = await open();
    const changelog = new Changelog();
    store.put('a', 1, 0, 0);
    store.put('a', 1, 1, 1);
    await commitEpoch(state, 1, changelog);
    store.put('b', 1, 100, 100);
    // Visible from 100 - 100 + 1 on.
    expect(store.fetch('a', 0)).toBeNull();
    expect(store.fetch('a', 1)).toBe(1);
    expect(store.locate('a', 0)).toMatchObject({ value: null, timestamp: -1 });
    store.put('a', 9, 0, 101);
    expect(store.fetch('a', 0)).toBeNull();
    expect(state.expiredWrites('w')).toBe(1);
    expect((await collect(store.fetchAll(0, 1000))).map(([key, s]) => `${key}@${s}`)).toEqual(['a@1', 'b@100']);
    await commitEpoch(state, 2, changelog);
    expect(changelog.records).toHaveLength(3);
    await state.close({ clean: true });
  });

  it('frees what is expired', async () => {
    const { state, store } = await open();
    const changelog = new Changelog();
    for (let i = 0; i < 50; i++) {
      store.put(`k${i}`, i, i * 200_000, i);
      await commitEpoch(state, i + 1, changelog);
    }
    expect(store).toHaveProperty('tables.size', 1);
    await state.close({ clean: true });
  });

  it('gives closed windows out once, in order of window start and key bytes', async () => {
    const { state, store } = await open({ closeTracking: true, retention: 25 }, 1);
    const changelog = new Changelog();
    const closed = async (upTo: number) => {
      const rows: string[] = [];
      await store.drainClosed(upTo, (entry) => void rows.push(`${entry.key}@${entry.windowStart}=${entry.value}`));
      return rows;
    };
    for (const start of [0, 10, 20, 30]) for (const key of ['b', 'a']) store.put(key, start, start, start);
    store.put('a', null, 10, 40);
    await commitEpoch(state, 1, changelog);
    expect(await closed(10)).toEqual(['a@0=0', 'b@0=0', 'b@10=10']);
    expect(await closed(10)).toEqual([]);
    await commitEpoch(state, 2, changelog);
    expect(await closed(20)).toEqual(['a@20=20', 'b@20=20']);
    await state.close({ clean: true });
  });

  it('calls the visitor of closed windows synchronously when all is in memory, and awaits promises in order', async () => {
    const { state, store } = await open({ closeTracking: true });
    for (const key of ['c', 'b', 'a']) store.put(key, 1, 0, 0);
    store.put('d', 1, 10, 10);
    const seen: string[] = [];
    expect(store.drainClosed(0, (entry) => void seen.push(entry.key))).toBeUndefined();
    expect(seen).toEqual(['a', 'b', 'c']);
    await store.drainClosed(10, async (entry) => {
      await Promise.resolve();
      seen.push(entry.key);
    });
    expect(seen).toEqual(['a', 'b', 'c', 'd']);
    await state.close({ clean: true });
  });

  it('is restored from its changelog, stream time included', async () => {
    const { state, store } = await open();
    const changelog = new Changelog();
    store.put('a', 1, 0, 5);
    store.put('a', 2, 90, 95);
    store.put('b', 3, 100, 101);
    await commitEpoch(state, 1, changelog);
    await state.close({ clean: true });
    const fresh = await open({}, undefined, await directories.make());
    await changelog.restore(fresh.state, 'w', null);
    expect((await collect(fresh.store.fetchAll(0, 1000))).map(([key, s, row]) => [key, s, row])).toEqual([
      ['a', 90, { value: 2, timestamp: 95 }],
      ['b', 100, { value: 3, timestamp: 101 }],
    ]);
    expect(fresh.store.fetch('a', 0)).toBeNull();
    await fresh.state.close({ clean: true });
  });

  it('notes each change once, with its value before, until it is drained', async () => {
    const { state, store } = await open({ trackChanges: true });
    const changes: unknown[] = [];
    const drain = () =>
      store.drainChanges(
        ({ key, windowStart, before, value, timestamp }) => void changes.push([key, windowStart, before, value, timestamp]),
      );
    store.put('a', 1, 0, 1);
    store.put('a', 2, 0, 2);
    store.put('a', 1, 10, 3);
    void drain();
    store.put('a', null, 0, 4);
    void drain();
    void drain();
    expect(changes).toEqual([
      ['a', 0, null, 2, 2],
      ['a', 10, null, 1, 3],
      ['a', 0, 2, null, 4],
    ]);
    await state.close({ clean: true });
  });
});

it('finds its windows again in LevelDB after a restart', async () => {
  const directory = await directories.make();
  const specs = [windowStore({ name: 'w', windowSize: 10, retention: 1000 })];
  const changelog = new Changelog();
  const first = await openState({ directory, specs });
  const store = first.store('w') as WindowStore<string, number>;
  for (const start of [0, 10, 500]) for (const key of ['', 'a', '\u00ff']) store.put(key, start, start);
  await commitEpoch(first, 1, changelog);
  await first.close({ clean: true });

  const second = await openState({ directory, specs });
  const again = second.store('w') as WindowStore<string, number>;
  expect(second.position('w', identity)).toBe(9);
  expect(await collect(again.fetchRange('a', 0, 1000))).toEqual([
    [0, 0],
    [10, 10],
    [500, 500],
  ]);
  expect((await collect(again.fetchAll(5, 1000))).map(([key, start]) => [key, start])).toEqual([
    ['', 10],
    ['a', 10],
    ['\u00ff', 10],
    ['', 500],
    ['a', 500],
    ['\u00ff', 500],
  ]);
  await second.close({ clean: true });
});
