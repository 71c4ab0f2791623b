/**
 * Whatever is written, frozen, committed and written to disk in whatever order: the committed view is what the store itself said at the barrier of the last committed
 * epoch, and the uncommitted one what it says now.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { serdes } from '../../src/serdes/serdes.js';
import { sessionStore, slidingWindowStore, versionedStore } from '../../src/stores/list-store-builders.js';
import { timestampedKeyValueStore, timestampedWindowStore } from '../../src/stores/store-builders.js';
import type {
  SessionStore,
  SlidingWindowStore,
  StateStore,
  StoreSpec,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  VersionedKeyValueStore,
} from '../../src/stores/store.js';
import { collect } from '../stores/store-harness.js';
import { directories, engines, QueryRig } from './query-rig.js';

const keys = ['', 'a', 'ab', 'b', '\u00ff', '\u00ff\u00ff'];
type Value = { readonly n: number };
const named = { keySerde: serdes.string, valueSerde: serdes.json<Value>() };

interface Write {
  readonly key: string;
  readonly time: number;
  readonly n: number | null;
}

interface Kind {
  readonly spec: StoreSpec;
  write(store: StateStore, write: Write): void;
  /** All that the store itself has. */
  own(store: StateStore): Promise<unknown>;
  /** The same through a view. */
  viewed(rig: QueryRig, isolation: 'committed' | 'uncommitted'): Promise<unknown>;
}

const valueOf = ({ n }: Write): Value | null => (n === null ? null : { n });

const kinds: Readonly<Record<string, Kind>> = {
  keyValue: {
    spec: timestampedKeyValueStore({ name: 's', ...named }),
    write: (store, write) => (store as TimestampedKeyValueStore<string, Value>).put(write.key, valueOf(write), write.time),
    own: async (store) =>
      (await collect((store as TimestampedKeyValueStore<string, Value>).range())).map(([key, { value, timestamp }]) => ({
        key,
        value,
        timestamp,
      })),
    viewed: async (rig, isolation) => {
      const view = rig.keyValue<string, Value>({ isolation });
      const rows = await view.all().toArray();
      for (const key of keys) {
        const row = rows.find((candidate) => candidate.key === key);
        expect(await view.getWithTimestamp(key)).toEqual(row === undefined ? null : { value: row.value, timestamp: row.timestamp });
      }
      expect(await view.all({ reverse: true }).toArray()).toEqual(rows.slice().reverse());
      return rows;
    },
  },
  window: {
    spec: timestampedWindowStore({ name: 's', windowSize: 10, retention: 60, ...named }),
    write: (store, write) => {
      const start = write.time - (write.time % 10);
      (store as TimestampedWindowStore<string, Value>).put(write.key, valueOf(write), start, write.time);
    },
    own: async (store) =>
      (await collect((store as TimestampedWindowStore<string, Value>).fetchAll(0, 1000))).map(([key, start, { value, timestamp }]) => ({
        key,
        start,
        end: start + 10,
        value,
        timestamp,
      })),
    viewed: async (rig, isolation) => {
      const view = rig.windows<string, Value>({ isolation });
      const rows = await view.fetchAll().toArray();
      for (const key of keys) {
        const ofKey = rows.filter((row) => row.key === key);
        expect(await view.fetch(key).toArray()).toEqual(ofKey);
        expect(await view.fetch(key, { from: 20, to: 40, reverse: true }).toArray()).toEqual(
          ofKey.filter(({ start }) => start >= 20 && start <= 40).reverse(),
        );
        for (const { start, value } of ofKey) expect(await view.get(key, start)).toEqual(value);
      }
      expect(await view.fetchAll({ from: 20, to: 60, reverse: true, keys: { from: 'a', to: 'b' } }).toArray()).toEqual(
        rows.filter(({ key, start }) => start >= 20 && start <= 60 && key >= 'a' && key <= 'b').reverse(),
      );
      return rows;
    },
  },
  slidingWindow: {
    spec: slidingWindowStore({ name: 's', windowSize: 10, retention: 60, ...named }),
    write: (store, write) => (store as SlidingWindowStore<string, Value>).put(write.key, write.time, valueOf(write), write.time + 1),
    own: async (store) =>
      (await collect((store as SlidingWindowStore<string, Value>).fetchAll(0, 1000))).map(([key, { windowStart, value, timestamp }]) => ({
        key,
        start: windowStart,
        end: windowStart + 10,
        value,
        timestamp,
      })),
    viewed: async (rig, isolation) => {
      const view = rig.windows<string, Value>({ isolation });
      const rows = await view.fetchAll().toArray();
      for (const key of keys) {
        const ofKey = rows.filter((row) => row.key === key);
        expect(await view.fetch(key).toArray()).toEqual(ofKey);
        for (const { start, value } of ofKey) expect(await view.get(key, start)).toEqual(value);
      }
      expect(await view.fetchAll({ reverse: true, from: 20, to: 50 }).toArray()).toEqual(
        rows.filter(({ start }) => start >= 20 && start <= 50).reverse(),
      );
      return rows;
    },
  },
  session: {
    spec: sessionStore({ name: 's', retention: 60, ...named }),
    write: (store, write) => (store as SessionStore<string, Value>).put(write.key, write.time, write.time + 3, valueOf(write)),
    own: async (store) =>
      (await collect((store as SessionStore<string, Value>).fetchAll())).map(([key, { start, end, value }]) => ({
        key,
        start,
        end,
        value,
      })),
    viewed: async (rig, isolation) => {
      const view = rig.sessions<string, Value>({ isolation });
      const rows = await view.fetchAll().toArray();
      for (const key of keys) {
        const ofKey = rows.filter((row) => row.key === key);
        expect(await view.fetch(key).toArray()).toEqual(ofKey);
        expect(await view.fetch(key, { from: 20, to: 40 }).toArray()).toEqual(ofKey.filter(({ start, end }) => end >= 20 && start <= 40));
        for (const { start, end, value } of ofKey) expect(await view.get(key, start, end)).toEqual(value);
      }
      const pages: unknown[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = view.fetchAll({ limit: 2, ...(cursor !== '' && { after: cursor }) });
        pages.push(...(await page.toArray()));
        cursor = page.cursor;
      }
      expect(pages).toEqual(rows);
      return rows;
    },
  },
  versioned: {
    spec: versionedStore({ name: 's', historyRetention: 60, segmentInterval: 20, ...named }),
    write: (store, write) => void (store as VersionedKeyValueStore<string, Value>).put(write.key, valueOf(write), write.time),
    own: async (store) => {
      const versioned = store as VersionedKeyValueStore<string, Value>;
      return keys.map((key) => [
        versioned.getRange(key, 0, 1000),
        [10, 30, 50, 70].map((time) => versioned.getAsOf(key, time)),
        versioned.get(key),
      ]);
    },
    viewed: async (rig, isolation) => {
      const view = rig.versions<string, Value>({ isolation });
      const found: unknown[] = [];
      for (const key of keys) {
        const asOf: unknown[] = [];
        for (const time of [10, 30, 50, 70]) asOf.push(await view.get(key, { asOf: time }));
        found.push([await view.history(key, { from: 0, to: 1000 }), asOf, await view.get(key)]);
      }
      return found;
    },
  },
};

type Step = { readonly do: 'write'; readonly write: Write } | { readonly do: 'freeze' | 'commit' | 'flush' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('write' as const),
        write: fc.record({
          key: fc.constantFrom(...keys),
          time: fc.integer({ min: 0, max: 99 }),
          n: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 4 }),
        }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'commit' as const, 'flush' as const) }) },
  ),
  { minLength: 1, maxLength: 25 },
);

afterEach(() => directories.removeAll());

describe.each(engines)('committed and uncommitted views over %s', (engine) => {
  it.each(Object.entries(kinds))(
    'follow a %s store',
    async (_, kind) => {
      await fc.assert(
        fc.asyncProperty(steps, async (run) => {
          const rig = await QueryRig.open({ engine, spec: kind.spec });
          await rig.commitAndFollow();
          await follow(rig, kind, run);
          await rig.close();
        }),
        { numRuns: engine === 'memory' ? 15 : 8 },
      );
    },
    60_000,
  );
});

async function follow(on: QueryRig, kind: Kind, run: readonly Step[]): Promise<void> {
  const store = on.store();
  let committed = await kind.own(store);
  let inFlight: { readonly frozen: unknown } | null = null;
  for (const step of run) {
    if (step.do === 'write') kind.write(store, step.write);
    else if (step.do === 'flush') await on.flush();
    else if (step.do === 'freeze' && inFlight === null) {
      inFlight = { frozen: await kind.own(store) };
      on.task().freeze();
    } else if (step.do === 'commit' && inFlight !== null) {
      on.task().committed();
      committed = inFlight.frozen;
      inFlight = null;
    }
    expect(await kind.viewed(on, 'committed')).toEqual(committed);
    expect(await kind.viewed(on, 'uncommitted')).toEqual(await kind.own(store));
  }
}
