/** What is beyond the conformance cases: the store over both engines, over epochs, restarts and restores. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { versionedStore } from '../../src/stores/list-store-builders.js';
import type { VersionedKeyValueStore } from '../../src/stores/store.js';
import { Changelog, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Store = VersionedKeyValueStore<string, number>;

describe.each(['memory', 'leveldb'] as const)('a versioned store over %s', (engine) => {
  const open = async (directory?: string) => {
    const path = directory ?? (await directories.make());
    const state = await openState({
      directory: path,
      specs: [versionedStore({ name: 'v', engine, historyRetention: 1000, segmentInterval: 100, valueSerde: serdes.int32 })],
      cacheBytes: 1,
    });
    return { state, store: state.store('v') as Store, path };
  };

  it.each(['', 'k', '\u00ff'])('keeps the versions of key %j over epochs', async (key) => {
    const { state, store } = await open();
    const changelog = new Changelog();
    expect(store.put(key, 1, 100)).toBeNull();
    await commitEpoch(state, 1, changelog);
    expect(store.put(key, 3, 300)).toBeNull();
    await commitEpoch(state, 2, changelog);
    expect(store.put(key, 2, 250)).toBe(300);
    await commitEpoch(state, 3, changelog);
    expect(store.get(key)).toEqual({ value: 3, timestamp: 300, validTo: null });
    expect(store.getAsOf(key, 260)).toEqual({ value: 2, timestamp: 250, validTo: 300 });
    expect(store.getAsOf(key, 249)).toEqual({ value: 1, timestamp: 100, validTo: 250 });
    expect(store.getAsOf(key, 99)).toBeNull();
    expect(store.getRange(key, 0, 1000).map((record) => record.value)).toEqual([3, 2, 1]);
    expect(store.getRange(key, 0, 260, { ascending: true }).map((record) => record.value)).toEqual([1, 2]);
    await state.close({ clean: true });
  });

  it('deletes as of a time and gives what was valid there', async () => {
    const { state, store } = await open();
    store.put('k', 1, 100);
    expect(store.delete('k', 150)).toMatchObject({ value: 1, timestamp: 100 });
    expect(store.delete('k', 160)).toBeNull();
    expect(store.get('k')).toBeNull();
    expect(store.getAsOf('k', 140)).toMatchObject({ value: 1, validTo: 150 });
    await state.close({ clean: true });
  });

  it('rejects what is older than the history, counts it and keeps it out of the changelog', async () => {
    const { state, store } = await open();
    const changelog = new Changelog();
    store.put('a', 1, 2000);
    expect(store.put('b', 2, 999)).toBe('rejected');
    expect(store.put('b', 3, 1000)).toBeNull();
    expect(store.delete('b', 999)).toBeNull();
    expect(state.expiredWrites('v')).toBe(2);
    await commitEpoch(state, 1, changelog);
    expect(changelog.records.map((record) => record.timestamp)).toEqual([2000, 1000]);
    await state.close({ clean: true });
  });

  it('logs every put in its order, so that a restore gives the same store', async () => {
    const first = await open();
    const changelog = new Changelog();
    // Kafka Streams' rule: this tombstone takes the latest version away and leaves nothing behind.
    first.store.put('k', 1, 100);
    first.store.put('k', null, 100);
    first.store.put('k', 2, 50);
    first.store.put('other', 3, 1100);
    await commitEpoch(first.state, 1, changelog);
    expect(changelog.records.map((r) => [r.key.toString(), r.value?.readInt32BE(0) ?? null, r.timestamp])).toEqual([
      ['k', 1, 100],
      ['k', null, 100],
      ['k', 2, 50],
      ['other', 3, 1100],
    ]);
    expect(first.store.get('k')).toMatchObject({ value: 2, timestamp: 50 });
    await first.state.close({ clean: false });

    const { state, store } = await open();
    await changelog.restore(state, 'v', null);
    expect(store.get('k')).toMatchObject({ value: 2, timestamp: 50 });
    expect(store.put('x', 1, 99)).toBe('rejected');
    await state.close({ clean: true });
  });

  it('goes on after a restart, and forgets old versions and tombstones but never the latest version', async () => {
    const first = await open();
    const changelog = new Changelog();
    first.store.put('old', 1, 0);
    for (let i = 0; i < 50; i++) {
      first.store.put('k', i, i * 100);
      first.store.put(`gone${i}`, null, i * 100);
      await commitEpoch(first.state, i + 1, changelog);
    }
    const inner = (first.state as unknown as { stores: Map<string, { state: { tables: { all: number[] } } }> }).stores.get('v')?.state;
    expect(inner?.tables.all.length).toBeLessThan(13);
    await first.state.close({ clean: true });

    const { state, store } = await open(first.path);
    await changelog.restore(state, 'v', state.position('v', identity));
    expect(store.get('old')).toMatchObject({ value: 1 });
    expect(store.getAsOf('k', 4350)).toMatchObject({ value: 43, timestamp: 4300, validTo: 4400 });
    expect(store.getAsOf('k', 3800)).toBeNull();
    await state.close({ clean: true });
  });
});
