import { afterEach, describe, expect, it } from '@jest/globals';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindowStore, sessionStore, slidingWindowStore, versionedStore } from '../../src/stores/list-store-builders.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from '../../src/stores/store-builders.js';
import type {
  JoinWindowStore,
  KeyValueStore,
  SessionStore,
  SlidingWindowStore,
  StoreSpec,
  TimestampedKeyValueStore,
  VersionedKeyValueStore,
  WindowStore,
} from '../../src/stores/store.js';
import { Changelog, collect, commitEpoch, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

interface Case {
  readonly spec: (valueSerde: Serde<never>, engine: 'memory' | 'leveldb') => StoreSpec;
  readonly write: (store: unknown) => void;
  readonly read: (store: unknown) => unknown;
}

function of<S>(spec: Case['spec'], write: (store: S) => unknown, read: (store: S) => unknown): Case {
  return { spec, write: (store) => void write(store as S), read: (store) => read(store as S) };
}

const windows = { windowSize: 10, retention: 1000 };
const cases: [string, Case][] = [
  [
    'key-value',
    of<KeyValueStore<string, number>>(
      (valueSerde, engine) => keyValueStore({ name: 's', valueSerde, engine }),
      (store) => store.put('k', 1),
      (store) => store.get('k'),
    ),
  ],
  [
    'timestamped key-value',
    of<TimestampedKeyValueStore<string, number>>(
      (valueSerde, engine) => timestampedKeyValueStore({ name: 's', valueSerde, engine }),
      (store) => store.put('k', 1, 5),
      (store) => store.get('k'),
    ),
  ],
  [
    'key-value, in a scan,',
    of<TimestampedKeyValueStore<string, number>>(
      (valueSerde, engine) => timestampedKeyValueStore({ name: 's', valueSerde, engine }),
      (store) => store.put('k', 1, 5),
      (store) => collect(store.range()),
    ),
  ],
  [
    'window',
    of<WindowStore<string, number>>(
      (valueSerde, engine) => windowStore({ name: 's', valueSerde, engine, ...windows }),
      (store) => store.put('k', 1, 10),
      (store) => store.fetch('k', 10),
    ),
  ],
  [
    'timestamped window',
    of<{ put(key: string, value: number, start: number, timestamp: number): void; fetch(key: string, start: number): unknown }>(
      (valueSerde, engine) => timestampedWindowStore({ name: 's', valueSerde, engine, ...windows }),
      (store) => store.put('k', 1, 10, 12),
      (store) => store.fetch('k', 10),
    ),
  ],
  [
    'session',
    of<SessionStore<string, number>>(
      (valueSerde, engine) => sessionStore({ name: 's', valueSerde, engine, retention: 1000 }),
      (store) => store.put('k', 1, 9, 1),
      (store) => store.fetchSession('k', 1, 9),
    ),
  ],
  [
    'sliding window',
    of<SlidingWindowStore<string, number>>(
      (valueSerde, engine) => slidingWindowStore({ name: 's', valueSerde, engine, ...windows }),
      (store) => store.put('k', 10, 1, 12),
      (store) => store.rows('k', 0, 100),
    ),
  ],
  [
    'versioned',
    of<VersionedKeyValueStore<string, number>>(
      (valueSerde, engine) => versionedStore({ name: 's', valueSerde, engine, historyRetention: 1000 }),
      (store) => store.put('k', 1, 10),
      (store) => store.get('k'),
    ),
  ],
  [
    'join window',
    of<JoinWindowStore<string, number>>(
      (valueSerde, engine) => joinWindowStore({ name: 's', valueSerde, engine, retention: 1000 }),
      (store) => store.put('k', 1, 10),
      (store) => store.fetch('k', 0, 100),
    ),
  ],
];

const [counts, json] = [serdes.count, serdes.json()] as unknown as [Serde<never>, Serde<never>];
const unreadable = { code: 'MILL_SERDE', details: { serde: 'json', store: 's', task: '0_0' } };

describe.each(cases)('a row of a %s store that was written by another serde', (_what, { spec, write, read }) => {
  it('is told with store, task and key when it is read, as on writing', async () => {
    const directory = await directories.make();
    const first = await openState({ directory, specs: [spec(counts, 'leveldb')] });
    write(first.store('s'));
    await commitEpoch(first, 1, new Changelog());
    await first.close({ clean: true });

    const second = await openState({ directory, specs: [spec(json, 'leveldb')] });
    const reading = (async () => read(second.store('s')))();
    await expect(reading).rejects.toMatchObject({
      ...unreadable,
      message: expect.stringMatching(/^Store s of task 0_0, key k: Serde json cannot deserialise 8 bytes 0x0000000000000001: /),
    });
    await second.close({ clean: false });
  });

  it('is told with store, task and key when it comes from the changelog', async () => {
    const changelog = new Changelog();
    const first = await openState({ directory: null, specs: [spec(counts, 'memory')] });
    write(first.store('s'));
    await commitEpoch(first, 1, changelog);
    await first.close({ clean: true });

    const second = await openState({ directory: null, specs: [spec(json, 'memory')] });
    const reading = (async () => {
      await changelog.restore(second, 's', null);
      return read(second.store('s'));
    })();
    await expect(reading).rejects.toMatchObject({
      ...unreadable,
      message: expect.stringMatching(/^Store s of task 0_0, key (k|of 1 bytes 0x6b): Serde json cannot deserialise 8 bytes/),
    });
    await second.close({ clean: false });
  });
});

describe('a key that was written by another serde', () => {
  it('is told with store, task and bytes', async () => {
    const changelog = new Changelog();
    const open = (keySerde: Serde<never>) =>
      openState({ directory: null, specs: [keyValueStore({ name: 's', keySerde, valueSerde: serdes.int32, engine: 'memory' })] });
    const first = await open(serdes.string as unknown as Serde<never>);
    (first.store('s') as KeyValueStore<string, number>).put('key', 1);
    await commitEpoch(first, 1, changelog);
    await first.close({ clean: true });

    const second = await open(serdes.int64 as unknown as Serde<never>);
    await expect(changelog.restore(second, 's', null)).rejects.toMatchObject({
      code: 'MILL_SERDE',
      message: expect.stringMatching(
        /^Store s of task 0_0, a key that it has can’t be read: Serde int64 cannot deserialise 3 bytes 0x6b6579/,
      ),
      details: { serde: 'int64', store: 's', task: '0_0' },
    });
    await second.close({ clean: false });
  });

  it('has a text also when JSON has none for it', async () => {
    const key = { id: 5n };
    const keySerde = { name: 'big', serialize: () => Buffer.from('5'), deserialize: () => key } as unknown as Serde<never>;
    const spec = keyValueStore({ name: 's', keySerde, valueSerde: serdes.int32, engine: 'memory' });
    const state = await openState({ directory: null, specs: [spec] });
    (state.store('s') as KeyValueStore<unknown, unknown>).put(key, 'no number');
    expect(() => state.freeze(1, new Changelog())).toThrow(
      /^Store s of task 0_0, key a value of type Object: Serde int32 cannot serialise string no number/,
    );
    await state.close({ clean: false });
  });
});
