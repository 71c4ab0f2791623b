import { afterEach, describe, expect, it } from '@jest/globals';
import type { KeyValueStore, TimestampedKeyValueStore } from '../../src/stores/store.js';
import { serdes } from '../../src/serdes/serdes.js';
import { keyValueStore, timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import { Changelog, collect, commitEpoch, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

describe.each(['memory', 'leveldb'] as const)('a key-value store over %s', (engine) => {
  const open = async (cacheBytes?: number) => {
    const state = await openState({
      directory: await directories.make(),
      specs: [timestampedKeyValueStore({ name: 'counts', engine }), keyValueStore({ name: 'plain', engine })],
      cacheBytes,
    });
    return {
      state,
      counts: state.store('counts') as TimestampedKeyValueStore<string, number>,
      plain: state.store('plain') as KeyValueStore<string, number>,
    };
  };

  it('gives back what was put, with its timestamp', async () => {
    const { state, counts } = await open();
    counts.put('a', 1, 100);
    expect(counts.get('a')).toBe(1);
    expect(counts.getWithTimestamp('a')).toEqual({ value: 1, timestamp: 100 });
    expect(counts.get('b')).toBeNull();
    expect(counts.getWithTimestamp('b')).toBeNull();
    await state.close({ clean: true });
  });

  it('locates an absent row with value null and timestamp -1, and writes it', async () => {
    const { state, counts } = await open();
    const entry = counts.locate('a');
    expect(entry).toMatchObject({ key: 'a', value: null, timestamp: -1 });
    counts.write(entry, 1, 50);
    counts.write(counts.locate('a'), 2, 60);
    expect(counts.getWithTimestamp('a')).toEqual({ value: 2, timestamp: 60 });
    await state.close({ clean: true });
  });

  it('deletes, in the same epoch and in a later one', async () => {
    const { state, counts } = await open();
    const changelog = new Changelog();
    counts.put('a', 1, 1);
    counts.put('b', 1, 1);
    counts.put('b', null, 2);
    expect(counts.get('b')).toBeNull();
    await commitEpoch(state, 1, changelog);
    counts.put('a', null, 3);
    expect(counts.locate('a')).toMatchObject({ value: null, timestamp: -1 });
    await commitEpoch(state, 2, changelog);
    expect(counts.get('a')).toBeNull();
    expect(await collect(counts.range())).toEqual([]);
    expect(changelog.records.map((r) => [r.key.toString(), r.value, r.timestamp])).toEqual([
      ['a', Buffer.from([0, 0, 0, 1]), 1],
      ['b', null, 2],
      ['a', null, 3],
    ]);
    await state.close({ clean: true });
  });

  it('keeps empty, 0xFF and unicode keys apart and in byte order', async () => {
    const { state, counts } = await open();
    const keys = ['', '\u0000', 'a', 'aé', 'z', 'é', '日本', '😀', '\uffff'];
    for (const [i, key] of keys.entries()) counts.put(key, i, i);
    const inByteOrder = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect((await collect(counts.range())).map(([key]) => key)).toEqual(inByteOrder);
    await commitEpoch(state, 1, new Changelog());
    expect((await collect(counts.range({ reverse: true }))).map(([key]) => key)).toEqual([...inByteOrder].reverse());
    for (const [i, key] of keys.entries()) expect(counts.get(key)).toBe(i);
    await state.close({ clean: true });
  });

  it('has range bounds that are inclusive, and prefix scans by bytes', async () => {
    const { state, counts } = await open();
    for (const key of ['a', 'ab', 'abc', 'b', 'ba', 'c']) counts.put(key, 1, 1);
    const keys = async (rows: AsyncIterable<readonly [string, unknown]>) => (await collect(rows)).map(([key]) => key);
    for (let epoch = 1; epoch <= 2; epoch++) {
      expect(await keys(counts.range({ from: 'ab', to: 'b' }))).toEqual(['ab', 'abc', 'b']);
      expect(await keys(counts.range({ from: 'ab', to: 'b', reverse: true }))).toEqual(['b', 'abc', 'ab']);
      expect(await keys(counts.range({ to: 'ab' }))).toEqual(['a', 'ab']);
      expect(await keys(counts.range({ from: 'ba' }))).toEqual(['ba', 'c']);
      expect(await keys(counts.prefixScan(Buffer.from('ab')))).toEqual(['ab', 'abc']);
      expect(await keys(counts.prefixScan(Buffer.alloc(0)))).toHaveLength(6);
      await commitEpoch(state, epoch, new Changelog());
    }
    await state.close({ clean: true });
  });

  it('scans active rows over frozen ones over the engine', async () => {
    const { state, counts } = await open(1);
    const changelog = new Changelog();
    for (const key of ['a', 'b', 'c', 'd', 'e']) counts.put(key, 1, 1);
    await commitEpoch(state, 1, changelog);
    counts.put('b', 2, 2);
    counts.put('c', null, 2);
    state.freeze(2, changelog);
    counts.put('d', 3, 3);
    counts.put('b', null, 3);
    counts.put('f', 3, 3);
    expect((await collect(counts.range())).map(([key, { value }]) => `${key}${value}`)).toEqual(['a1', 'd3', 'e1', 'f3']);
    await state.close({ clean: false });
  });

  it('tolerates writes during a scan', async () => {
    const { state, counts } = await open();
    for (let i = 0; i < 1000; i++) counts.put(`k${String(i).padStart(4, '0')}`, i, i);
    await commitEpoch(state, 1, new Changelog());
    const seen: string[] = [];
    for await (const [key] of counts.range()) {
      seen.push(key);
      counts.put(key, -1, 1);
      counts.put(`a${key}`, 1, 1);
    }
    expect(seen).toHaveLength(1000);
    expect(new Set(seen).size).toBe(1000);
    await state.close({ clean: true });
  });

  it('throws MILL_STORE_CLOSED after the task was closed, from open scans too', async () => {
    const { state, counts, plain } = await open();
    for (let i = 0; i < 600; i++) counts.put(`k${i}`, i, i);
    await commitEpoch(state, 1, new Changelog());
    const scan = counts.range();
    await scan.next();
    await state.close({ clean: true });
    expect(() => counts.get('k1')).toThrow(expect.objectContaining({ code: 'MILL_STORE_CLOSED' }));
    expect(() => counts.locate('x')).toThrow(expect.objectContaining({ code: 'MILL_STORE_CLOSED' }));
    expect(() => plain.put('x', 1)).toThrow(expect.objectContaining({ code: 'MILL_STORE_CLOSED' }));
    await expect(scan.next()).rejects.toMatchObject({ code: 'MILL_STORE_CLOSED' });
  });

  it('offers putIfAbsent and delete with the value before, and stamps changelog records with the record in work', async () => {
    const { state, plain } = await open();
    const changelog = new Changelog();
    expect(plain.putIfAbsent('a', 1)).toBeNull();
    expect(plain.putIfAbsent('a', 2)).toBe(1);
    plain.putAll(new Map([['b', 5]]));
    expect([plain.get('b'), plain.delete('b')]).toEqual([5, 5]);
    expect(plain.get('a')).toBe(1);
    expect(plain.delete('a')).toBe(1);
    expect(plain.delete('a')).toBeNull();
    plain.put('b', 3);
    await commitEpoch(state, 1, changelog);
    expect(changelog.records.map((r) => [r.key.toString(), r.value?.readInt32BE() ?? null, r.timestamp])).toEqual([
      ['a', null, 7],
      ['b', 3, 7],
    ]);
    expect(await collect(plain.range())).toEqual([['b', 3]]);
    await state.close({ clean: true });
  });

  it('refuses bounds that it does not know, before it walks through everything', async () => {
    const { state, plain, counts } = await open();
    for (const store of [plain, counts]) {
      await expect(collect<unknown>(store.range({ form: 'a' } as never))).rejects.toMatchObject({
        code: 'MILL_QUERY_INVALID',
        message: expect.stringContaining('range has no option form; did you mean from?'),
      });
      await expect(collect<unknown>(store.range({ reverse: 1 } as never))).rejects.toThrow(
        'the option reverse must be true or false, not 1',
      );
    }
    await state.close({ clean: true });
  });

  it('counts its rows', async () => {
    const { state, counts } = await open();
    counts.put('a', 1, 1);
    counts.put('b', 1, 1);
    counts.put('a', 2, 1);
    counts.put('b', null, 1);
    expect(counts.approximateEntryCount()).toBe(1);
    await state.close({ clean: true });
  });

  it('reads right with a cache that holds a few rows of many', async () => {
    const { state, counts } = await open(4096);
    const changelog = new Changelog();
    for (let round = 1; round <= 5; round++) {
      for (let i = 0; i < 500; i++) counts.put(`k${(i * 7) % 500}`, round * 1000 + i, round);
      await commitEpoch(state, round, changelog);
      for (let i = 0; i < 500; i++) expect(counts.get(`k${(i * 7) % 500}`)).toBe(round * 1000 + i);
    }
    expect(await collect(counts.range())).toHaveLength(500);
    await state.close({ clean: true });
  });

  it('names store, task and key of a row that another serde has written', async () => {
    const directory = await directories.make();
    const changelog = new Changelog();
    const specs = [timestampedKeyValueStore({ name: 'counts', engine })];
    const before = await openState({ directory, specs });
    (before.store('counts') as TimestampedKeyValueStore<string, number>).put('a', 1, 1);
    await commitEpoch(before, 1, changelog);
    await before.close({ clean: true });
    const after = await openState({ directory, specs, valueSerde: serdes.json() as never });
    const counts = after.store('counts') as TimestampedKeyValueStore<string, unknown>;
    const unreadable = {
      code: 'MILL_SERDE',
      message: expect.stringMatching(
        /^Store counts of task 0_0, key a: Serde json cannot deserialise 4 bytes 0x00000001.*\[MILL_SERDE\](?!.*MILL_SERDE)/,
      ),
      details: { store: 'counts', task: '0_0', serde: 'json' },
    };
    // In memory it shows where the changelog is read back.
    if (engine === 'memory') await expect(changelog.restore(after, 'counts', null)).rejects.toMatchObject(unreadable);
    else {
      expect(() => counts.get('a')).toThrow(expect.objectContaining(unreadable));
      await expect(collect(counts.range())).rejects.toMatchObject(unreadable);
    }
    await after.close({ clean: false });
  });

  it('refuses a key that its serde cannot take, at the record, and names the store', async () => {
    const { state, counts } = await open();
    expect(() => counts.put(5 as never, 1, 1)).toThrow(
      expect.objectContaining({
        code: 'MILL_SERDE',
        message: expect.stringContaining('Store counts of task 0_0, a key does not fit: Serde string'),
      }),
    );
    await state.close({ clean: true });
  });

  it('names store, key and value when a value cannot be serialised at the barrier', async () => {
    const { state, counts } = await open();
    counts.put('a', 'one' as never, 1);
    expect(() => state.freeze(1, new Changelog())).toThrow(/Store counts .* key a.*int32 cannot serialise string one/);
    await state.close({ clean: false });
  });

  it('keeps -0 and 0, and NaN, as keys by their bytes', async () => {
    const state = await openState({
      directory: await directories.make(),
      specs: [timestampedKeyValueStore({ name: 'd', keySerde: serdes.double, valueSerde: serdes.string, engine })],
    });
    const store = state.store('d') as TimestampedKeyValueStore<number, string>;
    store.put(0, 'zero', 1);
    store.put(-0, 'minus zero', 1);
    store.put(NaN, 'nan', 1);
    expect([store.get(0), store.get(-0), store.get(NaN)]).toEqual(['zero', 'minus zero', 'nan']);
    await state.close({ clean: true });
  });
});
