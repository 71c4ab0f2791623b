import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { slidingWindowStore } from '../../src/stores/list-store-builders.js';
import type { SlidingWindowStore } from '../../src/stores/store.js';
import { Changelog, collect, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Counts = SlidingWindowStore<string, number>;

describe.each(['memory', 'leveldb'] as const)('a sliding window store over %s', (engine) => {
  const open = async ({
    directory: given,
    ...options
  }: { retention?: number; trackChanges?: boolean; closeTracking?: boolean; directory?: string } = {}) => {
    const directory = given ?? (await directories.make());
    const state = await openState({
      directory,
      specs: [slidingWindowStore({ name: 'w', engine, windowSize: 10, retention: 60_000, valueSerde: serdes.int32, ...options })],
      cacheBytes: 1,
    });
    return { state, store: state.store('w') as Counts, directory };
  };

  it('gives the windows of a key in a range of starts, across segments and epochs', async () => {
    const { state, store } = await open();
    const changelog = new Changelog();
    const starts = [31_000, 5, 0, 15_001, 59_999];
    for (const start of starts) store.put('k', start, start, start + 1);
    store.put('', 5, 7, 8);
    store.put('\u00ff', 5, 9, 8);
    for (let epoch = 1; epoch <= 2; epoch++) {
      expect(store.rows('k', 5, 31_000)).toEqual([5, 15_001, 31_000].map((s) => ({ windowStart: s, value: s, timestamp: s + 1 })));
      expect(store.rows('k', 6, 15_000)).toEqual([]);
      expect(store.fetch('k', 15_001)).toEqual({ windowStart: 15_001, value: 15_001, timestamp: 15_002 });
      expect(store.fetch('', 5)?.value).toBe(7);
      expect(store.fetch('\u00ff', 5)?.value).toBe(9);
      expect(store.fetch('k', 1)).toBeNull();
      expect((await collect(store.fetchAll(5, 20_000))).map(([key, row]) => [key, row.windowStart])).toEqual([
        ['', 5],
        ['k', 5],
        ['k', 15_001],
        ['\u00ff', 5],
      ]);
      await commitEpoch(state, epoch, changelog);
    }
    await state.close({ clean: true });
  });

  it('hides and drops windows that start before the retention', async () => {
    const { state, store } = await open({ retention: 100 });
    store.put('k', 0, 1, 1);
    store.put('k', 1, 2, 2);
    store.put('k', 100, 3, 105);
    expect(store.rows('k', 0, 1000).map((row) => row.windowStart)).toEqual([1, 100]);
    expect(store.fetch('k', 0)).toBeNull();
    store.put('k', 0, 4, 106);
    expect(state.expiredWrites('w')).toBe(1);
    expect(store.observedTime()).toBe(105);
    await state.close({ clean: true });
  });

  it('gives changes and final results with their timestamps', async () => {
    const { state, store, directory } = await open({ trackChanges: true, closeTracking: true });
    const changelog = new Changelog();
    store.put('b', 5, 1, 7);
    store.put('a', 5, 2, 8);
    store.put('a', 3, 3, 9);
    store.put('b', 5, 4, 10);
    const seen: unknown[] = [];
    void store.drainChanges((change) => void seen.push([change.key, change.windowStart, change.value, change.timestamp, change.before]));
    expect(seen.splice(0)).toEqual([
      ['b', 5, 4, 10, null],
      ['a', 5, 2, 8, null],
      ['a', 3, 3, 9, null],
    ]);
    void store.drainClosed(4, (key, row) => void seen.push([key, row]));
    expect(seen.splice(0)).toEqual([['a', { windowStart: 3, value: 3, timestamp: 9 }]]);
    await commitEpoch(state, 1, changelog);
    await state.close({ clean: true });

    const again = await open({ trackChanges: true, closeTracking: true, directory });
    await changelog.restore(again.state, 'w', again.state.position('w', identity));
    again.store.skipClosed?.(4);
    expect(again.store.observedTime()).toBe(10);
    void again.store.drainChanges(() => void seen.push('restoring is no change'));
    void again.store.drainClosed(5, (key, row) => void seen.push([key, row.value]));
    expect(seen).toEqual([
      ['a', 2],
      ['b', 4],
    ]);
    await again.state.close({ clean: true });
  });
});
