import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindowStore } from '../../src/stores/list-store-builders.js';
import type { JoinWindowStore } from '../../src/stores/store.js';
import { Changelog, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Side = JoinWindowStore<string, number>;

describe.each(['memory', 'leveldb'] as const)('a join window store over %s', (engine) => {
  const open = async (retention: number, directory?: string) => {
    const path = directory ?? (await directories.make());
    const state = await openState({
      directory: path,
      specs: [joinWindowStore({ name: 'j', engine, retention, valueSerde: serdes.int32 })],
      cacheBytes: 1,
    });
    return { state, store: state.store('j') as Side, path };
  };
  const values = (store: Side, key: string, from: number, to: number) => store.fetch(key, from, to).map((row) => row.value);

  it('keeps records with equal key and time in order of arrival, also over epochs and restarts', async () => {
    const first = await open(60_000);
    const changelog = new Changelog();
    for (const value of [3, 1, 2]) first.store.put('k', value, 100);
    await commitEpoch(first.state, 1, changelog);
    first.store.put('k', 1, 100);
    first.store.put('k', 9, 50);
    first.store.put('', 7, 100);
    first.store.put('\u00ff', 8, 100);
    await commitEpoch(first.state, 2, changelog);
    await first.state.close({ clean: true });

    const { state, store } = await open(60_000, first.path);
    await changelog.restore(state, 'j', state.position('j', identity));
    store.put('k', 5, 100);
    expect(store.fetch('k', 50, 100)).toMatchObject([9, 3, 1, 2, 1, 5].map((value) => ({ value })));
    expect(values(store, '', 0, 1000)).toEqual([7]);
    expect(values(store, '\u00ff', 0, 1000)).toEqual([8]);
    await commitEpoch(state, 3, changelog);
    expect(changelog.records.filter((r) => r.key.toString('latin1').startsWith('k')).map((r) => r.key.readInt32BE(9))).toEqual([
      0, 1, 2, 3, 0, 4,
    ]);
    await state.close({ clean: true });
  });

  it('reads a range of time, both ends in, over segments', async () => {
    const { state, store } = await open(10_000);
    for (let time = 0; time < 10_000; time += 500) store.put('k', time, time);
    expect(values(store, 'k', 1000, 3000)).toEqual([1000, 1500, 2000, 2500, 3000]);
    expect(values(store, 'k', 1001, 1499)).toEqual([]);
    expect(values(store, 'other', 0, 10_000)).toEqual([]);
    await state.close({ clean: true });
  });

  it('shows records until they are as old as the retention', async () => {
    const { state, store } = await open(100);
    store.put('k', 1, 0);
    store.put('k', 2, 1);
    store.put('other', 3, 100);
    expect(values(store, 'k', 0, 100)).toEqual([2]);
    store.put('k', 4, 0);
    expect(state.expiredWrites('j')).toBe(1);
    expect(store.observedTime()).toBe(100);
    await state.close({ clean: true });
  });

  it('stays as small as the retention over a thousand windows', async () => {
    const { state, store } = await open(2000);
    const changelog = new Changelog();
    for (let epoch = 1; epoch <= 100; epoch++) {
      for (let i = 0; i < 10; i++) store.put(`k${i}`, epoch, epoch * 2000);
      await commitEpoch(state, epoch, changelog);
    }
    const inner = (state as unknown as { stores: Map<string, { state: { tables: { all: number[] } } }> }).stores.get('j')?.state;
    expect(inner?.tables.all.length).toBeLessThan(6);
    await state.close({ clean: true });
  });
});
