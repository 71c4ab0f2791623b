import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindowStore, sessionStore } from '../../src/stores/list-store-builders.js';
import { timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { mergePositions, reaches } from '../../src/queries/position.js';
import { queries } from '../../src/queries/query.js';
import { directories, QueryRig } from './query-rig.js';

type Counts = TimestampedKeyValueStore<string, number>;
const spec = timestampedKeyValueStore({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.int32 });

let rig: QueryRig;
afterEach(async () => {
  await rig.close();
  await directories.removeAll();
});

/** One key in each partition, committed after so many input records. */
async function open(partitions: number): Promise<QueryRig> {
  rig = await QueryRig.open({ engine: 'memory', spec, partitions });
  for (const task of rig.tasks) {
    for (let i = 0; i <= task.partition; i++) task.processed();
    rig.store<Counts>(task.partition).put(`k${task.partition}`, task.partition, 0);
  }
  await rig.commit();
  return rig;
}

describe('a query by partition', () => {
  it('is answered by each with its position', async () => {
    await open(3);
    const result = await rig.queries.query({ store: 'counts', query: queries.key<string, number>('k1') });
    expect([...result.partitions.values()]).toEqual([
      { ok: true, partition: 0, result: null, position: { in: { 0: 0 } } },
      { ok: true, partition: 1, result: 1, position: { in: { 1: 1 } } },
      { ok: true, partition: 2, result: null, position: { in: { 2: 2 } } },
    ]);
    expect(result.only).toBe(1);
    expect(result.position).toEqual({ in: { 0: 0, 1: 1, 2: 2 } });
    expect((await rig.queries.query({ store: 'counts', query: queries.key('none') })).only).toBeNull();
  });

  it('gives rows partition by partition', async () => {
    await open(2);
    const result = await rig.queries.query({ store: 'counts', query: queries.range<string, number>() });
    const found: unknown[] = [];
    for (const { partition, result: rows } of result.successes) found.push([partition, rows.position, await rows.toArray()]);
    expect(found).toEqual([
      [0, { in: { 0: 0 } }, [{ key: 'k0', value: 0, timestamp: 0 }]],
      [1, { in: { 1: 1 } }, [{ key: 'k1', value: 1, timestamp: 0 }]],
    ]);
    expect(() => result.only).toThrow(expect.objectContaining({ code: 'MILL_QUERY_INVALID' }));
  });

  it('says of each partition asked why it does not answer', async () => {
    await open(4);
    const elsewhere = rig.tasks.splice(0, 1)[0]!;
    rig.task(1).role = 'catchingUp';
    const ask = (standbys: 'avoid' | 'use') =>
      rig.queries.query({
        store: 'counts',
        query: queries.key<string, number>('k1'),
        partitions: [0, 1, 2, 3, 4, -1],
        bound: { in: { 3: 7 } },
        standbys,
      });
    const result = await ask('avoid');
    expect(result.failures.map(({ partition, reason }) => [partition, reason])).toEqual([
      [0, 'notPresent'],
      [1, 'notActive'],
      [3, 'notUpToBound'],
      [4, 'doesNotExist'],
      [-1, 'doesNotExist'],
    ]);
    expect(result.partitions.get(3)).toMatchObject({ position: { in: { 3: 3 } } });
    expect((await ask('use')).partitions.get(1)).toMatchObject({ ok: true, result: 1 });
    await elsewhere.state.close({ clean: false });
  });

  it('tells a store of another kind, and an error of the store', async () => {
    await open(1);
    const windows = await rig.queries.query({ store: 'counts', query: queries.windowKey<string, number>('k0') });
    expect(windows.failures).toMatchObject([{ reason: 'unknownQueryType' }]);
    expect(() => windows.only).toThrow(expect.objectContaining({ code: 'MILL_STORE_WRONG_TYPE' }));
    const wrong = await rig.queries.query({ store: 'counts', query: queries.key<number, number>(1) });
    expect(wrong.failures).toMatchObject([{ reason: 'storeException', error: { code: 'MILL_SERDE' } }]);
    expect(() => wrong.only).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
    await expect(rig.queries.query({ store: 'none', query: queries.key('a') })).rejects.toMatchObject({
      code: 'MILL_TOPOLOGY_UNKNOWN_STORE',
    });
  });

  it('refuses stores that are an operator’s own, and views of another kind', async () => {
    rig = await QueryRig.open({ engine: 'memory', spec: joinWindowStore({ name: 'buffer', retention: 10 }) });
    expect(() => rig.windows()).toThrow(expect.objectContaining({ code: 'MILL_STORE_WRONG_TYPE' }));
    expect((await rig.queries.query({ store: 'buffer', query: queries.windowRange() })).failures).toMatchObject([
      { reason: 'unknownQueryType' },
    ]);
    await rig.close();
    rig = await QueryRig.open({ engine: 'memory', spec: sessionStore({ name: 'visits', retention: 10 }) });
    expect(() => rig.keyValue()).toThrow(expect.objectContaining({ code: 'MILL_STORE_WRONG_TYPE' }));
  });

  it.each([
    () => queries.range({ limit: 0 }),
    () => queries.window('a', NaN),
    () => queries.sessionKey('a', { from: NaN }),
    () => queries.versionedKey('a', { asOf: NaN }),
    () => queries.range({ after: 'x' }),
    () => queries.range({ limt: 3 } as never),
    () => queries.range(3 as never),
    () => queries.range({ prefix: 3 as never }),
    () => queries.windowKey('a', { from: '3' as never }),
    () => queries.windowRange({ keys: { form: 'a' } } as never),
    () => queries.sessionRange({ reversed: true } as never),
    () => queries.versionedKey('a', 5 as never),
    () => queries.versionHistory('a', { descending: true } as never),
  ])('refuses limits, times and cursors that make no sense: %s', async (make) => {
    await open(1);
    expect(make).toThrow(expect.objectContaining({ code: 'MILL_QUERY_INVALID' }));
  });
});

describe('a view', () => {
  it('waits until a position is reached', async () => {
    await open(1);
    await rig.keyValue().get('k0');
    rig.task().processed();
    rig.store<Counts>().put('k0', 9, 1);
    const reading = rig.keyValue({ atLeast: { in: { 0: 1 } } }).get('k0');
    await rig.commit();
    expect(await reading).toBe(9);
    await expect(rig.keyValue({ atLeast: { in: { 0: 5 } }, timeout: 30 }).get('k0')).rejects.toMatchObject({
      code: 'MILL_STORE_NOT_UP_TO_BOUND',
      details: { position: { in: { 0: 1 } } },
    });
    expect(await rig.keyValue({ atLeast: { in: { 0: 1 } }, isolation: 'uncommitted' }).get('k0')).toBe(9);
  });

  it('gives no part of a range for the whole: a partition that is not ready is an error', async () => {
    await open(2);
    rig.task(1).role = 'catchingUp';
    await expect(rig.keyValue().all().next()).rejects.toMatchObject({ code: 'MILL_STORE_NOT_AVAILABLE' });
    expect(
      await rig
        .keyValue({ partitions: [0] })
        .all()
        .toArray(),
    ).toHaveLength(1);
    expect(await rig.keyValue({ standbys: 'use' }).all().toArray()).toHaveLength(2);
  });

  it('gives its snapshot back when it is left early', async () => {
    await open(1);
    for (let i = 0; i < 600; i++) rig.store<Counts>().put(`more${i}`, i, 1);
    await rig.commit();
    await using rows = rig.keyValue().all();
    for await (const { key } of rows) if (key === 'k0') break;
    const { images } = rig.state.reader('counts').rows.state;
    expect(images?.hasSnapshots).toBe(false);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('ends scans that are not read while what they hold grows without end', async () => {
    rig = await QueryRig.open({
      engine: 'memory',
      spec: timestampedKeyValueStore({ name: 'big', keySerde: serdes.string, valueSerde: serdes.json<string[]>() }),
    });
    const store = rig.store<TimestampedKeyValueStore<string, string[]>>();
    for (let i = 0; i < 600; i++) store.put(`k${i}`, ['x'], 1);
    await rig.commit();
    const abandoned = rig.keyValue<string, string[]>().all();
    await abandoned.next();
    const filler = 'x'.repeat(64 * 1024);
    for (let epoch = 0; epoch < 3; epoch++) {
      for (let i = 0; i < 300; i++) store.put(`k${i}`, [filler], 2);
      await rig.commit();
    }
    await expect(abandoned.toArray()).rejects.toMatchObject({ code: 'MILL_STORE_SNAPSHOT_LOST' });
    expect(await rig.keyValue<string, string[]>().all({ limit: 1 }).toArray()).toHaveLength(1);
  });

  it('costs nothing once nobody has read for long', async () => {
    await open(1);
    await rig.keyValue().get('k0');
    const { state } = rig.state.reader('counts').rows;
    expect(state.images).not.toBeNull();
    for (let epoch = 0; epoch < 700; epoch++) {
      rig.store<Counts>().put('k0', epoch, 1);
      rig.task().freeze();
      rig.task().committed();
    }
    expect(state.images).toBeNull();
    expect(await rig.keyValue().get('k0')).toBe(699);
  });
});

describe('positions', () => {
  it('are merged to the furthest, and compared partition by partition', () => {
    const merged = mergePositions([{ a: { 0: 5, 1: 2 } }, { a: { 1: 7 }, b: { 0: 1 } }]);
    expect(merged).toEqual({ a: { 0: 5, 1: 7 }, b: { 0: 1 } });
    expect(reaches({ a: { 0: 5 } }, { a: { 0: 5, 1: 100 } }, 0)).toBe(true);
    expect(reaches({ a: { 0: 5 } }, { a: { 0: 6 } }, 0)).toBe(false);
    expect(reaches({}, { a: { 0: 0 } }, 0)).toBe(false);
    expect(reaches({}, { a: { 1: 0 } }, 0)).toBe(true);
  });
});
