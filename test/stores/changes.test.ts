import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import { Changelog, commitEpoch, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

interface Basket {
  items: string[];
}

describe.each(['memory', 'leveldb'] as const)('changes since the last drain, over %s', (engine) => {
  const open = async (cacheBytes?: number) => {
    const state = await openState({
      directory: await directories.make(),
      specs: [
        timestampedKeyValueStore({ name: 'n', engine, trackChanges: true }),
        timestampedKeyValueStore({ name: 'o', engine, trackChanges: true, valueSerde: serdes.json<Basket>() }),
      ],
      cacheBytes,
    });
    return {
      state,
      numbers: state.store('n') as TimestampedKeyValueStore<string, number>,
      baskets: state.store('o') as TimestampedKeyValueStore<string, Basket>,
    };
  };

  it('come in order of first change, with the value before and now', async () => {
    const { state, numbers } = await open();
    const seen: unknown[] = [];
    const drain = () => numbers.drainChanges((change) => void seen.push([change.key, change.before, change.value, change.timestamp]));
    numbers.put('b', 1, 1);
    numbers.put('a', 1, 2);
    numbers.put('b', 2, 3);
    void drain();
    numbers.put('a', null, 4);
    void drain();
    expect(seen).toEqual([
      ['b', null, 2, 3],
      ['a', null, 1, 2],
      ['a', 1, null, 4],
    ]);
    await state.close({ clean: true });
  });

  it.each([1 << 20, 1])(
    'leave out what is as it was, when they are compared, also for rows that left memory (cache of %i bytes)',
    async (cacheBytes) => {
      const plain = timestampedKeyValueStore({ name: 'o', engine, trackChanges: true, valueSerde: serdes.json<Basket>() });
      const specs = [{ ...plain, comparesChanges: true }];
      const state = await openState({ directory: await directories.make(), specs, cacheBytes });
      const baskets = state.store('o') as TimestampedKeyValueStore<string, Basket>;
      const changelog = new Changelog();
      const seen: unknown[] = [];
      for (const [epoch, item] of ['apple', 'apple', 'pear', 'apple', 'pear'].entries()) {
        const entry = baskets.locate('x');
        const basket = entry.value ?? { items: [] };
        if (!basket.items.includes(item)) basket.items.push(item);
        baskets.write(entry, basket, epoch);
        void baskets.drainChanges((change) => void seen.push([change.before?.items ?? null, [...(change.value?.items ?? [])]]));
        await commitEpoch(state, epoch + 1, changelog);
        for (let i = 0; i < 100; i++) baskets.get(`filler${i}`);
      }
      expect(seen).toEqual([
        [null, ['apple']],
        [['apple'], ['apple', 'pear']],
      ]);
      expect(baskets.getWithTimestamp('x')).toEqual({ value: { items: ['apple', 'pear'] }, timestamp: 4 });
      await state.close({ clean: true });
    },
  );

  it.each([1 << 20, 1])('give the old value of an object that was changed in place (cache of %i bytes)', async (cacheBytes) => {
    const { state, baskets } = await open(cacheBytes);
    const changelog = new Changelog();
    const add = (key: string, item: string) => {
      const entry = baskets.locate(key);
      const basket = entry.value ?? { items: [] };
      basket.items.push(item);
      baskets.write(entry, basket, 1);
    };
    const seen: unknown[] = [];
    const drain = () =>
      baskets.drainChanges((change) => void seen.push([change.key, change.before?.items ?? null, [...(change.value?.items ?? [])]]));
    add('x', 'apple');
    add('x', 'pear');
    void drain();
    await commitEpoch(state, 1, changelog);
    for (let i = 0; i < 100; i++) baskets.get(`filler${i}`);
    add('x', 'plum');
    add('x', 'fig');
    void drain();
    await commitEpoch(state, 2, changelog);
    add('x', 'kiwi');
    void drain();
    expect(seen).toEqual([
      ['x', null, ['apple', 'pear']],
      ['x', ['apple', 'pear'], ['apple', 'pear', 'plum', 'fig']],
      ['x', ['apple', 'pear', 'plum', 'fig'], ['apple', 'pear', 'plum', 'fig', 'kiwi']],
    ]);
    await state.close({ clean: true });
  });

  it('written by the visitor come in a later drain', async () => {
    const { state, numbers } = await open();
    const seen: string[] = [];
    numbers.put('a', 1, 1);
    void numbers.drainChanges(({ key }) => {
      seen.push(key);
      numbers.put('b', 1, 1);
    });
    expect(seen).toEqual(['a']);
    void numbers.drainChanges(({ key }) => void seen.push(key));
    expect(seen).toEqual(['a', 'b']);
    await state.close({ clean: true });
  });

  it('are visited one after the other when the visitor is asynchronous', async () => {
    const { state, numbers } = await open();
    for (const key of ['a', 'b', 'c']) numbers.put(key, 1, 1);
    const seen: string[] = [];
    await numbers.drainChanges(async ({ key }) => {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(key);
    });
    expect(seen).toEqual(['a', 'b', 'c']);
    await state.close({ clean: true });
  });
});
