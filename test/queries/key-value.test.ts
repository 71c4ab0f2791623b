import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { keyValueStore, timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import type { KeyValueStore, TimestampedKeyValueStore } from '../../src/stores/store.js';
import { directories, engines, QueryRig } from './query-rig.js';

let rig: QueryRig;
afterEach(async () => {
  await rig.close();
  await directories.removeAll();
});

type Counts = TimestampedKeyValueStore<string, number>;
const counts = timestampedKeyValueStore({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.int32 });

describe.each(engines)('a key-value store over %s, queried', (engine) => {
  const open = async (partitions = 1): Promise<QueryRig> => {
    rig = await QueryRig.open({ engine, spec: counts, partitions });
    return rig;
  };

  it('shows with committed what the last commit made visible, with uncommitted what the task holds', async () => {
    const { store } = { store: (await open()).store<Counts>() };
    const committed = rig.keyValue();
    const uncommitted = rig.keyValue({ isolation: 'uncommitted' });
    store.put('a', 1, 10);
    await rig.commit();
    expect(await committed.get('a')).toBe(1);
    store.put('a', 2, 20);
    store.put('b', 5, 21);
    expect([await committed.get('a'), await committed.get('b')]).toEqual([1, null]);
    expect([await uncommitted.get('a'), await uncommitted.get('b')]).toEqual([2, 5]);
    expect(await committed.getWithTimestamp('a')).toEqual({ value: 1, timestamp: 10 });
    rig.task().freeze();
    store.put('a', 3, 30);
    expect(await committed.get('a')).toBe(1);
    rig.task().committed();
    expect([await committed.get('a'), await committed.get('b')]).toEqual([2, 5]);
    await rig.flush();
    expect([await committed.get('a'), await uncommitted.get('a')]).toEqual([2, 3]);
    store.put('a', null, 40);
    expect([await committed.get('a'), await uncommitted.get('a')]).toEqual([2, null]);
  });

  it('waits for the epochs that were open at the first query, and asks for their commit', async () => {
    const store = (await open()).store<Counts>();
    store.put('a', 1, 1);
    rig.task().freeze();
    store.put('a', 2, 2);
    let found: unknown = 'waiting';
    const asked = rig
      .keyValue()
      .get('a')
      .then((value) => (found = value));
    await turn();
    expect([found, rig.commitsAsked > 0]).toEqual(['waiting', true]);
    rig.task().committed();
    await turn();
    expect(found).toBe('waiting');
    rig.task().freeze();
    rig.task().committed();
    await asked;
    expect(found).toBe(2);
  });

  it('gives up when nothing commits within the timeout', async () => {
    const store = (await open()).store<Counts>();
    store.put('a', 1, 1);
    await expect(rig.keyValue({ timeout: 20 }).get('a')).rejects.toMatchObject({ code: 'MILL_STORE_NOT_AVAILABLE' });
  });

  it('scans in the order of key bytes, bounded, by prefix, reverse, with empty and 0xFF keys', async () => {
    const spec = keyValueStore({ name: 'bytes', keySerde: serdes.bytes, valueSerde: serdes.int32 });
    rig = await QueryRig.open({ engine, spec });
    const store = rig.store<KeyValueStore<Uint8Array, number>>();
    const keys = ['', '00', '01', '01ff', '01ff00', '01ffff', '02', 'ff', 'ff00', 'ffff'];
    for (const [at, key] of keys.entries()) store.put(hex(key), at);
    await rig.commitAndFollow();
    store.put(hex('01ff'), 100);
    store.put(hex('03'), 101);
    store.put(hex('ff'), null);
    const view = rig.keyValue<Uint8Array>();
    const keysOf = async (rows: AsyncIterable<{ readonly key: Uint8Array }>): Promise<string[]> => {
      const found: string[] = [];
      for await (const { key } of rows) found.push(Buffer.from(key).toString('hex'));
      return found;
    };
    expect(await keysOf(view.all())).toEqual(keys);
    expect(await keysOf(view.all({ reverse: true }))).toEqual([...keys].reverse());
    expect(await keysOf(view.range({ from: hex('01'), to: hex('02') }))).toEqual(['01', '01ff', '01ff00', '01ffff', '02']);
    expect(await keysOf(view.range({ to: hex('') }))).toEqual(['']);
    expect(await keysOf(view.prefix(hex('01ff')))).toEqual(['01ff', '01ff00', '01ffff']);
    expect(await keysOf(view.prefix(hex('ff')))).toEqual(['ff', 'ff00', 'ffff']);
    expect(await keysOf(view.prefix(hex('')))).toEqual(keys);
    expect(await keysOf(view.range({ from: hex('02'), to: hex('01') }))).toEqual([]);
    const first = view.all({ limit: 4 });
    expect(await keysOf(first)).toEqual(keys.slice(0, 4));
    expect(await keysOf(view.all({ after: first.cursor! }))).toEqual(keys.slice(4));
    const last = view.all({ limit: 4, reverse: true });
    expect(await keysOf(last)).toEqual([...keys].reverse().slice(0, 4));
    expect(await keysOf(view.all({ after: last.cursor!, reverse: true }))).toEqual([...keys].reverse().slice(4));
    expect(await view.get(hex(''))).toBe(0);
    expect(await view.get(hex('ff'))).toBe(7);
    const uncommitted = rig.keyValue<Uint8Array>({ isolation: 'uncommitted' });
    expect(await keysOf(uncommitted.all())).toEqual(['', '00', '01', '01ff', '01ff00', '01ffff', '02', '03', 'ff00', 'ffff']);
    expect(await uncommitted.get(hex('01ff'))).toBe(100);
  });

  it('shows a scan as of its start, whatever is written, committed and written to disk meanwhile', async () => {
    const store = (await open()).store<Counts>();
    const name = (i: number): string => `k${String(i).padStart(5, '0')}`;
    for (let i = 0; i < 2000; i += 2) store.put(name(i), i, i);
    await rig.commitAndFollow();
    store.put(name(2), -1, 1);
    const scan = rig.keyValue().all();
    const seen: (readonly [string, number])[] = [];
    for await (const { key, value } of scan) {
      seen.push([key, value]);
      if (seen.length === 1) {
        for (let i = 0; i < 2000; i++) store.put(name(i), i % 3 === 0 ? null : 7, 1);
        await rig.commit();
        for (let i = 0; i < 2000; i++) store.put(name(i), null, 2);
        await rig.commit();
        await rig.commit();
      }
    }
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, i) => [name(2 * i), 2 * i]));
    expect(await rig.keyValue().all().toArray()).toEqual([]);
  });

  it('gives copies: what a reader does to a value, or the task to the same, is not seen by the other', async () => {
    const spec = timestampedKeyValueStore({ name: 'lists', keySerde: serdes.string, valueSerde: serdes.json<number[]>() });
    rig = await QueryRig.open({ engine, spec, cacheBytes: 1 << 20 });
    const store = rig.store<TimestampedKeyValueStore<string, number[]>>();
    store.put('a', [1], 1);
    await rig.commit();
    const committed = rig.keyValue<string, number[]>();
    const uncommitted = rig.keyValue<string, number[]>({ isolation: 'uncommitted' });
    expect(await committed.get('a')).toEqual([1]);
    // As an aggregator does: the object is changed in place and written.
    const entry = store.locate('a');
    entry.value!.push(2);
    expect(await committed.get('a')).toEqual([1]);
    store.write(entry, entry.value, 2);
    expect([await committed.get('a'), await uncommitted.get('a')]).toEqual([[1], [1, 2]]);
    (await uncommitted.get('a'))!.push(99);
    (await committed.get('a'))!.push(99);
    expect(store.get('a')).toEqual([1, 2]);
    await rig.commit();
    expect(await committed.get('a')).toEqual([1, 2]);
  });

  it('reads all partitions as one, in one order', async () => {
    await open(3);
    for (let i = 0; i < 300; i++) rig.store<Counts>(i % 3).put(`k${String(i).padStart(3, '0')}`, i, i);
    await rig.commit();
    const rows = await rig.keyValue().all().toArray();
    expect(rows.map(({ value }) => value)).toEqual(Array.from({ length: 300 }, (_, i) => i));
    expect(rows[0]).toEqual({ key: 'k000', value: 0, timestamp: 0 });
    expect(await rig.keyValue().get('k200')).toBe(200);
    expect(await rig.keyValue().get('none')).toBeNull();
    expect(await rig.keyValue().approximateCount()).toBe(300);
    const paged: number[] = [];
    let cursor: string | null = null;
    do {
      const page = rig.keyValue().all({ limit: 7, reverse: true, ...(cursor !== null && { after: cursor }) });
      const found = await page.toArray();
      paged.push(...found.map(({ value }) => value));
      cursor = found.length === 0 ? null : page.cursor;
    } while (cursor !== null);
    expect(paged).toEqual(Array.from({ length: 300 }, (_, i) => 299 - i));
  });

  it('does not take a key of another instance for an absent one', async () => {
    await open(3);
    rig.store<Counts>(1).put('here', 1, 1);
    await rig.commit();
    const [gone] = rig.tasks.splice(0, 1);
    expect(await rig.keyValue().get('here')).toBe(1);
    const answers = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => rig.keyValue().get(key)));
    const codes = new Set(
      answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : (answer.reason as { code: string }).code)),
    );
    expect(codes).toEqual(new Set([null, 'MILL_STORE_NOT_LOCAL']));
    expect(await rig.keyValue({ partitioner: () => 2 }).get('absent')).toBeNull();
    await expect(rig.keyValue({ partitioner: () => 0 }).get('absent')).rejects.toMatchObject({ code: 'MILL_STORE_NOT_LOCAL' });
    rig.tasks.splice(0);
    await expect(rig.keyValue().all().next()).rejects.toMatchObject({ code: 'MILL_STORE_NOT_LOCAL' });
    await gone!.state.close({ clean: false });
  });

  it('says so when a partition is closed under a scan', async () => {
    const store = (await open()).store<Counts>();
    for (let i = 0; i < 1000; i++) store.put(`k${i}`, i, i);
    await rig.commit();
    const scan = rig.keyValue().all();
    await scan.next();
    await rig.state.close({ clean: false });
    const rest = scan.toArray();
    await expect(rest).rejects.toMatchObject({ code: 'MILL_STORE_MIGRATED' });
    expect(await scan.next()).toEqual({ done: true, value: undefined });
  });

  it('refuses keys that are none of the store’s', async () => {
    await open();
    await expect(rig.keyValue<never>().get(7 as never)).rejects.toMatchObject({ code: 'MILL_SERDE' });
    await expect(
      rig
        .keyValue<never>()
        .range({ from: 7 as never })
        .next(),
    ).rejects.toMatchObject({ code: 'MILL_SERDE' });
  });
});

function hex(text: string): Uint8Array {
  return Buffer.from(text, 'hex');
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
