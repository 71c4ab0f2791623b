import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { timeOrderedBuffer } from '../../src/stores/list-store-builders.js';
import type { TimeOrderedBuffer } from '../../src/stores/store.js';
import { Changelog, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Buffered = TimeOrderedBuffer<string, string>;

describe.each(['memory', 'leveldb'] as const)('a time-ordered buffer over %s', (engine) => {
  const open = async (byKey: boolean, directory?: string) => {
    const path = directory ?? (await directories.make());
    const state = await openState({
      directory: path,
      specs: [timeOrderedBuffer({ name: 'b', engine, byKey, valueSerde: serdes.string })],
      cacheBytes: 1,
    });
    return { state, store: state.store('b') as Buffered, path };
  };
  const drain = (store: Buffered, more: Parameters<Buffered['drain']>[0]) => {
    const seen: string[] = [];
    void store.drain(more, (time, rank, key, value) => void seen.push(`${time}/${rank}/${key}=${value}`));
    return seen;
  };

  it('gives rows out by time, rank and key bytes, and only from the front', async () => {
    const { state, store } = await open(false);
    for (const [time, rank, key] of [
      [5, 1, 'a'],
      [5, 0, 'b'],
      [5, 0, 'a'],
      [5, 0, ''],
      [1, 1, '\u00ff'],
      [9, 0, 'a'],
    ] as const) {
      store.put(time, rank, key, 'v');
    }
    expect(store.firstTime()).toBe(1);
    expect(drain(store, (time) => time <= 5)).toEqual(['1/1/\u00ff=v', '5/0/=v', '5/0/a=v', '5/0/b=v', '5/1/a=v']);
    expect(store.firstTime()).toBe(9);
    expect(store.size).toBe(1);
    await state.close({ clean: true });
  });

  it('leaves rows that are skipped where they are', async () => {
    const { state, store } = await open(false);
    for (const time of [1, 2, 3]) for (const rank of [0, 1]) store.put(time, rank, 'k', 'v');
    expect(drain(store, (time, rank) => (time > 2 ? false : rank === 0 ? true : 'skip'))).toEqual(['1/0/k=v', '2/0/k=v']);
    expect(drain(store, () => true)).toEqual(['1/1/k=v', '2/1/k=v', '3/0/k=v', '3/1/k=v']);
    expect(store.firstTime()).toBe(Infinity);
    await state.close({ clean: true });
  });

  it('finds, replaces and deletes rows by time, rank and key', async () => {
    const { state, store } = await open(false);
    store.put(1, 0, 'k', 'a');
    store.put(1, 0, 'k', 'b');
    store.put(1, 1, 'k', 'c');
    expect(store.get(1, 0, 'k')).toBe('b');
    store.delete(1, 0, 'k');
    store.delete(7, 0, 'k');
    expect(store.get(1, 0, 'k')).toBeNull();
    expect(store.size).toBe(1);
    expect(() => store.find('k')).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    expect(() => store.put(1, 256, 'k', 'a')).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    await state.close({ clean: true });
  });

  it('keeps one row a key when built so, and a new value its place in the queue', async () => {
    const { state, store } = await open(true);
    store.put(10, 0, 'k', 'a');
    store.put(5, 0, 'l', 'x');
    store.put(99, 0, 'k', 'b');
    expect(store.find('k')).toMatchObject({ time: 10, value: 'b' });
    expect(store.find('nobody')).toBeNull();
    expect(drain(store, (time) => time <= 10)).toEqual(['5/0/l=x', '10/0/k=b']);
    store.put(99, 0, 'k', 'c');
    expect(store.firstTime()).toBe(99);
    await state.close({ clean: true });
  });

  it.each([true, false])('counts the bytes of keys and values (byKey %p), also after a restart', async (byKey) => {
    const { state, store, path } = await open(byKey);
    const changelog = new Changelog();
    store.put(1, 0, 'kkk', 'vvvv');
    store.put(1, 0, 'kkk', 'v');
    store.put(2, 0, '', 'vv');
    expect([store.size, store.byteSize]).toEqual([2, 6]);
    await commitEpoch(state, 1, changelog);
    await state.close({ clean: true });

    const again = await open(byKey, path);
    await changelog.restore(again.state, 'b', again.state.position('b', identity));
    expect([again.store.size, again.store.byteSize]).toEqual([2, 6]);
    expect(drain(again.store, () => true)).toEqual(['1/0/kkk=v', '2/0/=vv']);
    expect([again.store.size, again.store.byteSize]).toEqual([0, 0]);
    await commitEpoch(again.state, 2, changelog);
    await again.state.close({ clean: true });

    const third = await open(byKey, path);
    await changelog.restore(third.state, 'b', third.state.position('b', identity));
    expect(third.store.size).toBe(0);
    await third.state.close({ clean: true });
  });

  it('awaits visitors, takes rows out after their visit and sees rows put meanwhile', async () => {
    const { state, store } = await open(false);
    store.put(1, 0, 'a', 'v');
    store.put(3, 0, 'c', 'v');
    const seen: string[] = [];
    await store.drain(
      () => true,
      async (time, _rank, key) => {
        await Promise.resolve();
        seen.push(`${key}:${store.get(time, 0, key)}`);
        if (time === 1) store.put(2, 0, 'b', 'w');
        if (time === 2) store.delete(2, 0, 'b');
        if (time === 3) store.put(3, 0, 'c', 'again');
      },
    );
    expect(seen).toEqual(['a:v', 'b:w', 'c:v']);
    expect([store.size, store.get(3, 0, 'c')]).toEqual([1, 'again']);
    await state.close({ clean: true });
  });
});
