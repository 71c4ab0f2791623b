/** What holds for every kind of store over both engines: no key is too odd, and what is expired takes no room. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindowStore, lruStore, sessionStore, slidingWindowStore, versionedStore } from '../../src/stores/list-store-builders.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from '../../src/stores/store-builders.js';
import type { Engine } from '../../src/stores/engine/engine.js';
import type {
  JoinWindowStore,
  KeyValueStore,
  SessionStore,
  SlidingWindowStore,
  StateStore,
  StoreSpec,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  VersionedKeyValueStore,
  WindowStore,
} from '../../src/stores/store.js';
import { Changelog, collect, commitEpoch, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type EngineName = 'memory' | 'leveldb';
const engines: readonly EngineName[] = ['memory', 'leveldb'];

/** A kind of store: how it is built, and one row of a key at a time. Rows live for 100 ms where they have a time. */
interface Kind {
  readonly spec: (engine: EngineName) => StoreSpec;
  readonly put: (store: StateStore, key: Buffer, time: number, value: number | null) => void;
  readonly get: (store: StateStore, key: Buffer, time: number) => number | null;
  /** All keys in the order of the store, without their times; null where the kind has no scan over all keys. */
  readonly keys: ((store: StateStore, reverse: boolean) => Promise<readonly Buffer[]>) | null;
  readonly expires: boolean;
}

const common = (engine: EngineName) => ({ name: 's', engine, keySerde: serdes.bytes, valueSerde: serdes.int32 });
const keysOf = async (rows: AsyncIterable<readonly [Buffer, ...unknown[]]>): Promise<readonly Buffer[]> =>
  (await collect(rows)).map(([key]) => Buffer.from(key));

const kinds: Readonly<Record<string, Kind>> = {
  'key-value': {
    spec: (engine) => keyValueStore(common(engine)),
    put: (store, key, _time, value) => (store as KeyValueStore<Buffer, number>).put(key, value),
    get: (store, key) => (store as KeyValueStore<Buffer, number>).get(key),
    keys: (store, reverse) => keysOf((store as KeyValueStore<Buffer, number>).range({ reverse })),
    expires: false,
  },
  'timestamped key-value': {
    spec: (engine) => timestampedKeyValueStore(common(engine)),
    put: (store, key, time, value) => (store as TimestampedKeyValueStore<Buffer, number>).put(key, value, time),
    get: (store, key) => (store as TimestampedKeyValueStore<Buffer, number>).get(key),
    keys: (store, reverse) => keysOf((store as TimestampedKeyValueStore<Buffer, number>).range({ reverse })),
    expires: false,
  },
  LRU: {
    spec: () => lruStore({ name: 's', keySerde: serdes.bytes, valueSerde: serdes.int32, maxEntries: 50 }),
    put: (store, key, _time, value) => (store as KeyValueStore<Buffer, number>).put(key, value),
    get: (store, key) => (store as KeyValueStore<Buffer, number>).get(key),
    keys: (store, reverse) => keysOf((store as KeyValueStore<Buffer, number>).range({ reverse })),
    expires: false,
  },
  window: {
    spec: (engine) => windowStore({ ...common(engine), windowSize: 10, retention: 100 }),
    put: (store, key, time, value) => (store as WindowStore<Buffer, number>).put(key, value, time),
    get: (store, key, time) => (store as WindowStore<Buffer, number>).fetch(key, time),
    keys: async (store, reverse) => {
      const keys = await keysOf((store as WindowStore<Buffer, number>).fetchAll(0, 1e9));
      return reverse ? keys.toReversed() : keys;
    },
    expires: true,
  },
  'timestamped window': {
    spec: (engine) => timestampedWindowStore({ ...common(engine), windowSize: 10, retention: 100 }),
    put: (store, key, time, value) => (store as TimestampedWindowStore<Buffer, number>).put(key, value, time, time),
    get: (store, key, time) => (store as TimestampedWindowStore<Buffer, number>).fetch(key, time),
    keys: async (store, reverse) => {
      const keys = await keysOf((store as TimestampedWindowStore<Buffer, number>).fetchAll(0, 1e9));
      return reverse ? keys.toReversed() : keys;
    },
    expires: true,
  },
  session: {
    spec: (engine) => sessionStore({ ...common(engine), retention: 100 }),
    put: (store, key, time, value) => (store as SessionStore<Buffer, number>).put(key, time, time, value),
    get: (store, key, time) => (store as SessionStore<Buffer, number>).fetchSession(key, time, time),
    keys: async (store, reverse) => {
      const keys = await keysOf((store as SessionStore<Buffer, number>).fetchAll());
      return reverse ? keys.toReversed() : keys;
    },
    expires: true,
  },
  'sliding window': {
    spec: (engine) => slidingWindowStore({ ...common(engine), windowSize: 10, retention: 100 }),
    put: (store, key, time, value) => (store as SlidingWindowStore<Buffer, number>).put(key, time, value, time),
    get: (store, key, time) => (store as SlidingWindowStore<Buffer, number>).fetch(key, time)?.value ?? null,
    keys: async (store, reverse) => {
      const keys = await keysOf((store as SlidingWindowStore<Buffer, number>).fetchAll(0, 1e9));
      return reverse ? keys.toReversed() : keys;
    },
    expires: true,
  },
  'join window': {
    spec: (engine) => joinWindowStore({ ...common(engine), retention: 100 }),
    put: (store, key, time, value) => {
      if (value !== null) (store as JoinWindowStore<Buffer, number>).put(key, value, time);
    },
    get: (store, key, time) => (store as JoinWindowStore<Buffer, number>).fetch(key, time, time)[0]?.value ?? null,
    keys: null,
    expires: true,
  },
  versioned: {
    spec: (engine) => versionedStore({ ...common(engine), historyRetention: 100, segmentInterval: 50 }),
    put: (store, key, time, value) => void (store as VersionedKeyValueStore<Buffer, number>).put(key, value, time),
    get: (store, key) => (store as VersionedKeyValueStore<Buffer, number>).get(key)?.value ?? null,
    keys: null,
    expires: false,
  },
};

/** In the order of their bytes. */
const oddKeys = ['', '00', '0000', '00ff', '61', '6100', '61ff', 'fe', 'ff', 'ff00', 'ffff', 'ffffff'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

describe.each(Object.entries(kinds))('a %s store', (name, kind) => {
  // LRU stores are kept in memory.
  it.each(name === 'LRU' ? (['memory'] as const) : engines)(
    'keeps empty and 0xFF keys apart and in order, over %s, through epochs and a restart',
    async (engine) => {
      const directory = await directories.make();
      const first = await openState({ directory, specs: [kind.spec(engine)], cacheBytes: 1 });
      const changelog = new Changelog();
      const check = async (store: StateStore): Promise<void> => {
        for (const [i, key] of oddKeys.entries()) expect([key, kind.get(store, key, 5)]).toEqual([key, i]);
        expect(kind.get(store, Buffer.from('fffe', 'hex'), 5)).toBeNull();
        if (kind.keys === null) return;
        expect(await kind.keys(store, false)).toEqual(oddKeys);
        expect(await kind.keys(store, true)).toEqual(oddKeys.toReversed());
      };
      for (const [i, key] of oddKeys.entries()) kind.put(first.store('s'), key, 5, i);
      await check(first.store('s'));
      await commitEpoch(first, 1, changelog);
      await check(first.store('s'));
      await first.close({ clean: true });

      const second = await openState({ directory, specs: [kind.spec(engine)], cacheBytes: 1 });
      await changelog.restore(second, 's', second.position('s', identity));
      await check(second.store('s'));
      await second.close({ clean: true });
    },
  );
});

/** Segments that a store holds: what it keeps in memory, and what it has in the engine. */
async function held(state: Awaited<ReturnType<typeof openState>>): Promise<{ readonly segments: number; readonly rows: number }> {
  interface Held {
    readonly size?: number;
    readonly all?: readonly unknown[];
  }
  const inside = state as unknown as {
    readonly stores: Map<string, { readonly state: { readonly tables?: Held; readonly segments?: Held } }>;
    readonly engine: Engine | null;
  };
  const store = inside.stores.get('s')?.state;
  const tables = store?.tables ?? store?.segments;
  const segments = tables?.all?.length ?? tables?.size ?? NaN;
  if (inside.engine === null) return { segments, rows: 0 };
  const scan = inside.engine.scan({ from: Buffer.alloc(0), to: Buffer.alloc(64, 0xff) });
  const rows = (await scan.next(100_000)).length;
  await scan.close();
  return { segments, rows };
}

describe.each(Object.entries(kinds).filter(([, { expires }]) => expires))('a %s store', (_name, kind) => {
  it.each(engines)('is no larger after a thousand windows than after fifty, over %s', async (engine) => {
    const state = await openState({ directory: await directories.make(), specs: [kind.spec(engine)], cacheBytes: 1 });
    const changelog = new Changelog();
    const sizes: { readonly segments: number; readonly rows: number }[] = [];
    const windows = 1_000;
    for (let window = 1; window <= windows; window++) {
      // A key of its own in each window, and one that comes again and again. Segments of a minute hold many windows, so these are a minute apart.
      const time = window * 60_000;
      kind.put(state.store('s'), Buffer.from(`only ${String(window).padStart(4, '0')}`), time, window);
      kind.put(state.store('s'), Buffer.from('again'), time, window);
      if (window % 10 === 0) await commitEpoch(state, window / 10, changelog);
      if (window === 50 || window === windows) sizes.push(await held(state));
    }
    expect(sizes[1]).toEqual(sizes[0]);
    expect(sizes[1]?.segments).toBeLessThan(12);
    expect(sizes[1]?.rows).toBeLessThan(60);
    await state.close({ clean: true });
  });
});
