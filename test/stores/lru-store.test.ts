import { describe, expect, it } from '@jest/globals';
import { lruStore } from '../../src/stores/list-store-builders.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { Changelog, collect, openState } from './store-harness.js';

describe('a bounded key-value store', () => {
  const open = async () => {
    const state = await openState({ directory: null, specs: [lruStore({ name: 'lru', maxEntries: 2 })] });
    return { state, store: state.store('lru') as KeyValueStore<string, number> };
  };

  it('keeps the rows that were read or written last', async () => {
    const { state, store } = await open();
    store.put('a', 1);
    store.put('b', 2);
    expect(store.get('a')).toBe(1);
    store.put('c', 3);
    expect(store.get('b')).toBeNull();
    expect(store.putIfAbsent('a', 9)).toBe(1);
    store.put('d', 4);
    expect((await collect(store.range())).map(([key]) => key)).toEqual(['a', 'd']);
    await state.close({ clean: false });
  });

  it('frees the place of deleted rows', async () => {
    const { state, store } = await open();
    store.put('a', 1);
    store.put('b', 2);
    store.delete('a');
    store.put('c', 3);
    expect((await collect(store.range())).map(([key]) => key)).toEqual(['b', 'c']);
    await state.close({ clean: false });
  });

  it('writes tombstones for rows it takes out, and takes the order over from the changelog', async () => {
    const first = await open();
    const changelog = new Changelog();
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      first.store.put(key, value);
    }
    first.state.freeze(1, changelog);
    first.store.put('c', 3);
    first.state.freeze(2, changelog);
    await first.state.close({ clean: false });

    const { state, store } = await open();
    await changelog.restore(state, 'lru', null);
    expect((await collect(store.range())).map(([key]) => key)).toEqual(['b', 'c']);
    store.put('d', 4);
    expect((await collect(store.range())).map(([key]) => key)).toEqual(['c', 'd']);
    await state.close({ clean: false });
  });

  it.each([0, 1.5, -1])('refuses %d rows', (maxEntries) => {
    expect(() => lruStore({ name: 'lru', maxEntries })).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
  });
});
