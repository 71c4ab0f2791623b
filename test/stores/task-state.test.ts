import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore } from '../../src/stores/store-builders.js';
import { Changelog, collect, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

const specs = [timestampedKeyValueStore({ name: 'kv' })];
const open = async (directory: string, now?: () => number) => {
  const state = await openState({ directory, specs, now });
  return { state, kv: state.store('kv') as TimestampedKeyValueStore<string, number> };
};
const entries = async (kv: TimestampedKeyValueStore<string, number>) =>
  (await collect(kv.range())).map(([key, { value }]) => `${key}${value}`);

describe('epochs of a task', () => {
  it('go to the engine only when committed, several in one write, with position and number', async () => {
    const directory = await directories.make();
    const { state, kv } = await open(directory);
    state.position('kv', identity);
    const changelog = new Changelog();
    kv.put('a', 1, 1);
    state.freeze(1, changelog);
    kv.put('a', 2, 2);
    kv.put('b', 2, 2);
    state.freeze(2, changelog);
    kv.put('a', 3, 3);
    state.freeze(3, changelog);
    kv.put('a', 4, 4);
    state.committed(1, new Map([['kv', 10]]));
    state.committed(2, new Map([['kv', 20]]));
    await state.flush();
    expect(state.epoch).toBe(2);
    expect(await entries(kv)).toEqual(['a4', 'b2']);
    await state.close({ clean: false });

    const again = await open(directory);
    expect(again.state.epoch).toBe(2);
    expect(again.state.position('kv', identity)).toBe(20);
    expect(await entries(again.kv)).toEqual(['a2', 'b2']);
    await again.state.close({ clean: true });
  });

  it('write one changelog record for each changed key', async () => {
    const { state, kv } = await open(await directories.make());
    const changelog = new Changelog();
    for (let i = 1; i <= 10; i++) kv.put('a', i, i);
    kv.put('b', 1, 11);
    state.freeze(1, changelog);
    state.freeze(2, changelog);
    expect(changelog.records.map((r) => [r.key.toString(), r.value?.readInt32BE(), r.timestamp])).toEqual([
      ['a', 10, 10],
      ['b', 1, 11],
    ]);
    await state.close({ clean: false });
  });

  it('write no changelog records for a store that is not logged', async () => {
    const state = await openState({ directory: await directories.make(), specs: [keyValueStore({ name: 'kv', logged: false })] });
    const changelog = new Changelog();
    (state.store('kv') as unknown as TimestampedKeyValueStore<string, number>).put('a', 1, 1);
    state.freeze(1, changelog);
    expect(changelog.records).toEqual([]);
    await state.close({ clean: false });
  });

  it('refuse to be committed out of order', async () => {
    const { state, kv } = await open(await directories.make());
    kv.put('a', 1, 1);
    state.freeze(1, new Changelog());
    state.freeze(2, new Changelog());
    expect(() => state.committed(2, new Map())).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
    expect(() => state.freeze(2, new Changelog())).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
    await state.close({ clean: false });
  });

  it('are written by maybeFlush when it is time', async () => {
    const { state, kv } = await open(await directories.make(), () => 5000);
    const changelog = new Changelog();
    kv.put('a', 1, 1);
    state.freeze(1, changelog);
    state.committed(1, new Map());
    state.maybeFlush(5999);
    await state.endRestore('kv', 0); // Queued behind a write, had one been started.
    expect(state.epoch).toBe(-1);
    state.maybeFlush(6000);
    await state.flush();
    expect(state.epoch).toBe(1);
    await state.close({ clean: true });
  });

  it('tell how many bytes the active one changed', async () => {
    const { state, kv } = await open(await directories.make());
    expect(state.activeBytes).toBe(0);
    kv.put('a', 1, 1);
    const one = state.activeBytes;
    kv.put('a', 2, 1);
    expect(state.activeBytes).toBe(one);
    kv.put('b', 2, 1);
    expect(state.activeBytes).toBeGreaterThan(one);
    state.freeze(1, new Changelog());
    expect(state.activeBytes).toBe(0);
    await state.close({ clean: false });
  });
});

describe('positions', () => {
  const prepared = async () => {
    const directory = await directories.make();
    const { state, kv } = await open(directory);
    state.position('kv', identity);
    kv.put('a', 1, 1);
    state.freeze(1, new Changelog());
    state.committed(1, new Map([['kv', 5]]));
    await state.close({ clean: true });
    return directory;
  };

  it.each([
    ['topic id', { ...identity, topicId: 'id-2' }],
    ['cluster', { ...identity, clusterId: 'cluster-2' }],
  ])('of another %s are void, and the store is wiped', async (_what, other) => {
    const directory = await prepared();
    const { state, kv } = await open(directory);
    expect(state.position('kv', other)).toBeNull();
    expect(kv.get('a')).toBeNull();
    await state.close({ clean: true });
    const again = await open(directory);
    expect(await entries(again.kv)).toEqual([]);
    expect(again.state.position('kv', other)).toBeNull();
    await again.state.close({ clean: true });
  });

  it('hold when a broker does not tell topic ids', async () => {
    const { state } = await open(await prepared());
    expect(state.position('kv', { ...identity, topicId: null })).toBe(5);
    await state.close({ clean: true });
  });

  it('are void after a day away: tombstones of that time may have been compacted away', async () => {
    const directory = await prepared();
    const hours = (count: number) => () => Date.now() + count * 3_600_000;
    const soon = await open(directory, hours(20));
    expect(soon.state.position('kv', identity)).toBe(5);
    await soon.state.close({ clean: true });
    const late = await open(directory, hours(44));
    expect(late.state.position('kv', identity)).toBeNull();
    expect(await entries(late.kv)).toEqual([]);
    await late.state.close({ clean: true });
  });

  it('are void for a store that is now of another kind', async () => {
    const state = await openState({ directory: await prepared(), specs: [keyValueStore({ name: 'kv' })] });
    expect(state.position('kv', identity)).toBeNull();
    expect(await collect((state.store('kv') as unknown as TimestampedKeyValueStore<string, number>).range())).toEqual([]);
    await state.close({ clean: true });
  });
});

describe('restore', () => {
  it('applies records and goes on from where an interrupted one came to', async () => {
    const directory = await directories.make();
    const changelog = new Changelog();
    const source = await open(await directories.make());
    for (let i = 0; i < 10; i++) source.kv.put(`k${i}`, i, i);
    source.kv.put('k3', null, 10);
    await commitEpoch(source.state, 1, changelog);
    await source.state.close({ clean: true });

    const first = await open(directory);
    expect(first.state.position('kv', identity)).toBeNull();
    first.state.beginRestore('kv', null);
    for (const { timestamp, key, value } of changelog.records.slice(0, 5)) {
      first.state.restoreRecord('kv', timestamp, key, 0, key.length, value, 0, value?.length ?? 0);
    }
    expect(first.state.restorePendingBytes).toBeGreaterThan(0);
    await first.state.restoreFlush(new Map([['kv', 5]]));
    expect(first.state.restorePendingBytes).toBe(0);
    await first.state.close({ clean: false });

    const second = await open(directory);
    expect(second.state.position('kv', identity)).toBe(5);
    expect(await changelog.restore(second.state, 'kv', 5)).toBe(5);
    expect(await entries(second.kv)).toEqual(['k00', 'k11', 'k22', 'k44', 'k55', 'k66', 'k77', 'k88', 'k99']);
    expect(second.kv.getWithTimestamp('k7')).toEqual({ value: 7, timestamp: 7 });
    await second.state.close({ clean: true });
  });

  it('wipes the store first when it starts from nothing', async () => {
    const { state, kv } = await open(await directories.make());
    kv.put('old', 1, 1);
    await commitEpoch(state, 1, new Changelog());
    await new Changelog().restore(state, 'kv', null);
    expect(await entries(kv)).toEqual([]);
    await state.close({ clean: true });
  });

  it('shows what came after a row was read, as a query on a standby does', async () => {
    const { state, kv } = await open(await directories.make());
    const changelog = new Changelog();
    const log = (value: number | null) =>
      changelog.records.push({
        store: 'kv',
        timestamp: 1,
        key: Buffer.from('a'),
        value: value === null ? null : Buffer.from([0, 0, 0, value]),
      });
    log(1);
    await changelog.restore(state, 'kv', null);
    expect(kv.get('a')).toBe(1);
    log(2);
    await changelog.restore(state, 'kv', 1);
    expect(kv.get('a')).toBe(2);
    log(null);
    await changelog.restore(state, 'kv', 2);
    expect(kv.get('a')).toBeNull();
    await state.close({ clean: true });
  });

  it('keeps tombstones over what is in LevelDB', async () => {
    const { state, kv } = await open(await directories.make());
    const changelog = new Changelog();
    kv.put('a', 1, 1);
    kv.put('a', null, 2);
    await commitEpoch(state, 1, changelog);
    await changelog.restore(state, 'kv', null);
    expect(kv.get('a')).toBeNull();
    await state.close({ clean: true });
  });
});

describe('the directory of a task', () => {
  it('is locked while the task is open', async () => {
    const directory = await directories.make();
    const { state } = await open(directory);
    await expect(open(directory)).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    await state.close({ clean: true });
    await (await open(directory)).state.close({ clean: true });
  });

  it.each(['CURRENT', 'MANIFEST'])('is emptied when LevelDB cannot read it (%s damaged)', async (file) => {
    const directory = await directories.make();
    const { state, kv } = await open(directory);
    kv.put('a', 1, 1);
    await commitEpoch(state, 1, new Changelog());
    await state.close({ clean: true });
    const name = (await readdir(join(directory, 'db'))).find((found) => found.startsWith(file)) ?? file;
    await writeFile(join(directory, 'db', name), 'damaged');
    const again = await open(directory);
    expect(again.state.wiped).toBe('corrupted');
    expect(again.state.position('kv', identity)).toBeNull();
    expect(again.state.epoch).toBe(-1);
    expect(await entries(again.kv)).toEqual([]);
    await again.state.close({ clean: true });
  });

  it('is emptied when a table file is gone', async () => {
    const directory = await directories.make();
    for (let round = 0; round < 3; round++) {
      const { state, kv } = await open(directory);
      for (let i = 0; i < 100; i++) kv.put(`k${i}`, i, i);
      await commitEpoch(state, round, new Changelog());
      await state.close({ clean: true });
    }
    const tables = (await readdir(join(directory, 'db'))).filter((name) => name.endsWith('.ldb'));
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables) await rm(join(directory, 'db', table));
    const { state } = await open(directory);
    expect(state.wiped).toBe('corrupted');
    await state.close({ clean: true });
  });

  it('is deleted by wipe', async () => {
    const directory = join(await directories.make(), 'task');
    const { state, kv } = await open(directory);
    kv.put('a', 1, 1);
    await state.wipe();
    await expect(readdir(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('holds several stores apart, and forgets those that left the topology', async () => {
    const directory = await directories.make();
    const all = [
      timestampedKeyValueStore({ name: 'kv' }),
      timestampedKeyValueStore({ name: 'other' }),
      timestampedWindowStore({ name: 'w', windowSize: 1, retention: 1 }),
    ];
    const first = await openState({ directory, specs: all });
    (first.store('kv') as TimestampedKeyValueStore<string, number>).put('a', 1, 1);
    (first.store('other') as TimestampedKeyValueStore<string, number>).put('a', 2, 1);
    await commitEpoch(first, 1, new Changelog());
    await first.close({ clean: true });
    const second = await open(directory);
    expect(await entries(second.kv)).toEqual(['a1']);
    await second.state.close({ clean: true });
    const third = await openState({ directory, specs: all });
    expect(await entries(third.store('other') as TimestampedKeyValueStore<string, number>)).toEqual([]);
    await third.close({ clean: true });
  });

  it('keeps a store without a changelog over a clean end only', async () => {
    const directory = await directories.make();
    const unlogged = [timestampedKeyValueStore({ name: 'kv', logged: false })];
    const session = async (clean: boolean) => {
      const state = await openState({ directory, specs: unlogged });
      const kv = state.store('kv') as TimestampedKeyValueStore<string, number>;
      const found = await entries(kv);
      kv.put('a', 1, 1);
      await commitEpoch(state, state.epoch + 1, new Changelog());
      await state.close({ clean });
      return found;
    };
    expect(await session(true)).toEqual([]);
    expect(await session(false)).toEqual(['a1']);
    expect(await session(true)).toEqual([]);
  });
});

it('says which store a task does not have', async () => {
  const { state } = await open(await directories.make());
  expect(() => state.store('nope')).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_UNKNOWN_STORE' }));
  await state.close({ clean: true });
});
