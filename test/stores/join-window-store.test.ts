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
    const inner = (state as unknown as { stores: Map<string, { state: { segments: { all: unknown[] } } }> }).stores.get('j')?.state;
    expect(inner?.segments.all.length).toBeLessThan(6);
    await state.close({ clean: true });
  });
});

describe('a join window store with more records than its cache holds', () => {
  it('lets go of what the engine has, within a segment too, and finds it again', async () => {
    const path = await directories.make();
    const cacheBytes = 64 * 1024;
    const state = await openState({
      directory: path,
      specs: [joinWindowStore({ name: 'j', engine: 'leveldb', retention: 40_000, valueSerde: serdes.string })],
      cacheBytes,
    });
    const store = state.store('j') as JoinWindowStore<string, string>;
    const changelog = new Changelog();
    const filler = 'x'.repeat(100);
    const sizes: number[] = [];
    // All of it lies in one segment of ten seconds.
    for (let epoch = 1; epoch <= 40; epoch++) {
      for (let i = 0; i < 100; i++) store.put(`k${i % 10}-${epoch % 4}`, `${epoch} ${i} ${filler}`, 10_000 + epoch * 10 + i);
      await commitEpoch(state, epoch, changelog);
      const inner = (state as unknown as { stores: Map<string, { state: { segments: { all: { counted: number }[] } } }> }).stores.get('j');
      sizes.push((inner?.state.segments.all ?? []).reduce((sum, { counted }) => sum + counted, 0));
    }
    expect(Math.max(...sizes)).toBeLessThan(2 * cacheBytes);
    for (const key of ['k0-0', 'k9-3']) {
      const [number, rest] = [Number(key.slice(1, 2)), Number(key.slice(3))];
      const expected: string[] = [];
      for (let time = 10_000; time < 11_000; time++) {
        for (let epoch = 1; epoch <= 40; epoch++) {
          const i = time - 10_000 - epoch * 10;
          if (epoch % 4 === rest && i >= 0 && i < 100 && i % 10 === number) expected.push(`${epoch} ${i} ${filler}`);
        }
      }
      expect(store.fetch(key, 0, 20_000).map(({ value }) => value)).toEqual(expected);
    }
    await state.close({ clean: true });
  });

  it('keeps what waits for the engine when it lets go of the rest of a segment', async () => {
    const state = await openState({
      directory: await directories.make(),
      specs: [joinWindowStore({ name: 'j', engine: 'leveldb', retention: 40_000, valueSerde: serdes.string })],
      cacheBytes: 32 * 1024,
    });
    const store = state.store('j') as JoinWindowStore<string, string>;
    const changelog = new Changelog();
    const filler = 'x'.repeat(1000);
    for (let i = 0; i < 200; i++) store.put(`k${i}`, `1 ${filler}`, 10_000 + i);
    await commitEpoch(state, 1, changelog);
    for (let i = 0; i < 200; i += 50) store.put(`k${i}`, `2 ${filler}`, 11_000);
    state.freeze(2, changelog);
    store.put('k50', `3 ${filler}`, 12_000);
    store.put('new', `3 ${filler}`, 12_000);
    const inner = (state as unknown as { stores: Map<string, { state: { segments: { all: { counted: number }[] } } }> }).stores.get('j');
    const size = (): number => (inner?.state.segments.all ?? []).reduce((sum, { counted }) => sum + counted, 0);
    // Reading everything brings it into memory again, and out of it.
    const short = (key: string): string[] => store.fetch(key, 0, 20_000).map(({ value }) => value.slice(0, 1));
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 200; i++) {
        expect(short(`k${i}`)).toEqual(['1', ...(i % 50 === 0 ? ['2'] : []), ...(i === 50 ? ['3'] : [])]);
        expect(size()).toBeLessThan(100 * 1024);
      }
    }
    state.committed(2, new Map());
    await state.flush();
    await commitEpoch(state, 3, changelog);
    for (let i = 0; i < 200; i++) expect(short(`k${i}`)).toHaveLength(1 + Number(i % 50 === 0) + Number(i === 50));
    expect(changelog.records.map(({ value }) => value?.toString('latin1', 0, 1)).join('')).toBe(`${'1'.repeat(200)}222233`);
    await state.close({ clean: true });
  });

  it('writes the newest epoch’s records of a key also when memory is let go of while the engine is written', async () => {
    const specs = [joinWindowStore({ name: 'j', engine: 'leveldb', retention: 40_000, valueSerde: serdes.string })];
    const directory = await directories.make();
    const state = await openState({ directory, specs, cacheBytes: 300_000 });
    const store = state.store('j') as JoinWindowStore<string, string>;
    const changelog = new Changelog();
    for (let i = 0; i < 200; i++) store.put(`clean ${i}`, 'x'.repeat(6_000), 10_000);
    await commitEpoch(state, 1, changelog);
    store.put('k', 'old', 10_000);
    state.freeze(2, changelog);
    store.put('k', 'new', 10_001);
    for (let i = 0; i < 2_100; i++) store.put(`k${i}`, 'y', 10_001);
    state.freeze(3, changelog);
    for (const epoch of [2, 3]) state.committed(epoch, new Map());
    const { segments } = (state as unknown as { stores: Map<string, { state: { segments: { all: { memory: unknown }[] } } }> }).stores.get(
      'j',
    )!.state;
    const flushed = state.flush();
    // The first slice of the batch is built, the second one is not.
    await new Promise(setImmediate);
    const before = segments.all[0]?.memory;
    for (let i = 0; i < 200; i++) store.fetch(`clean ${i}`, 0, 20_000);
    expect(segments.all[0]?.memory).not.toBe(before);
    await flushed;
    await state.close({ clean: true });

    const again = await openState({ directory, specs });
    expect((again.store('j') as JoinWindowStore<string, string>).fetch('k', 0, 20_000).map(({ value }) => value)).toEqual(['old', 'new']);
    await again.close({ clean: true });
  });

  it('refuses a value of the wrong type at its record, and keeps what it had', async () => {
    const state = await openState({ directory: null, specs: [joinWindowStore({ name: 'j', retention: 1000, valueSerde: serdes.int32 })] });
    const store = state.store('j') as JoinWindowStore<string, unknown>;
    store.put('k', 1, 10);
    expect(() => store.put('k', 'no number', 10)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
    store.put('k', 2, 10);
    expect(store.fetch('k', 0, 100).map(({ value }) => value)).toEqual([1, 2]);
    const changelog = new Changelog();
    await commitEpoch(state, 1, changelog);
    expect(changelog.records.map(({ key }) => key.readInt32BE(9))).toEqual([0, 1]);
    await state.close({ clean: true });
  });

  it('is closed for everybody once its task is', async () => {
    const state = await openState({ directory: null, specs: [joinWindowStore({ name: 'j', retention: 1000, valueSerde: serdes.int32 })] });
    const store = state.store('j') as JoinWindowStore<string, number>;
    store.put('k', 1, 10);
    await state.close({ clean: true });
    expect(() => store.put('k', 1, 10)).toThrow(expect.objectContaining({ code: 'MILL_STORE_CLOSED' }));
    expect(() => store.fetch('k', 0, 10)).toThrow(expect.objectContaining({ code: 'MILL_STORE_CLOSED' }));
  });
});
