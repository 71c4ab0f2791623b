import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  joinWindowStore,
  sessionStore,
  slidingWindowStore,
  timeOrderedBuffer,
  versionedStore,
} from '../../src/stores/list-store-builders.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore } from '../../src/stores/store-builders.js';
import type {
  JoinWindowStore,
  KeyValueStore,
  SessionStore,
  SlidingWindowStore,
  StoreSpec,
  TimeOrderedBuffer,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  VersionedKeyValueStore,
} from '../../src/stores/store.js';
import type { StoreSize } from '../../src/stores/store-sizes.js';
import type { TaskState } from '../../src/stores/task-state.js';
import { serdes } from '../../src/serdes/serdes.js';
import { Changelog, commitEpoch, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

function sizeOf({ sizes }: TaskState, name = 's'): StoreSize {
  sizes.refresh();
  return sizes.snapshot()[name]!;
}
const keysOf = (state: TaskState): number => sizeOf(state).estimateNumKeys;

async function eventually(what: string, holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`not reached: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each(['memory', 'leveldb'] as const)('the number of keys of a store (%s)', (engine) => {
  const at = (directory: string, spec: StoreSpec, cacheBytes = 1 << 20): Promise<TaskState> =>
    openState({ directory, specs: [spec], cacheBytes, valueSerde: serdes.string as never });
  const open = async (spec: StoreSpec): Promise<TaskState> => at(await directories.make(), spec);

  it.each([
    ['keyValue', keyValueStore({ name: 's', engine })],
    ['timestampedKeyValue', timestampedKeyValueStore({ name: 's', engine })],
  ])('%s: those that have a value now, whatever was written, deleted and written again', async (_kind, spec) => {
    const state = await open(spec);
    const changelog = new Changelog();
    const keys = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(30), fc.boolean())), fc.boolean(), async (writes, commits) => {
        for (const [key, deletes] of writes) {
          if (spec.kind === 'keyValue') (state.store('s') as KeyValueStore<string, string>).put(`${key}`, deletes ? null : 'v');
          else (state.store('s') as TimestampedKeyValueStore<string, string>).put(`${key}`, deletes ? null : 'v', 1);
          if (deletes) keys.delete(key);
          else keys.add(key);
        }
        if (commits) await commitEpoch(state, changelog.end + 1_000_000 * ++epochs, changelog);
        expect(keysOf(state)).toBe(keys.size);
      }),
      { numRuns: 40 },
    );
    await state.close({ clean: true });
  });
  let epochs = 0;

  it('windows: the windows of all keys, less by those that have expired, also of rows that left memory or are of an earlier run', async () => {
    const spec = timestampedWindowStore({ name: 's', windowSize: 100, retention: 1000, engine });
    const directory = await directories.make();
    const changelog = new Changelog();
    let state = await at(directory, spec, 2000);
    let windows = state.store('s') as TimestampedWindowStore<string, string>;
    for (let start = 0; start < 1000; start += 100) for (let key = 0; key < 20; key++) windows.put(`k${key}`, 'v', start, start);
    await commitEpoch(state, 1, changelog);
    expect(keysOf(state)).toBe(200);
    if (engine === 'leveldb') {
      await state.close({ clean: true });
      state = await at(directory, spec, 2000);
      windows = state.store('s') as TimestampedWindowStore<string, string>;
      expect(keysOf(state)).toBe(200);
    }
    windows.put('k0', 'v', 1499, 1499);
    await commitEpoch(state, 2, changelog);
    expect(keysOf(state)).toBe(101);
    windows.put('k0', 'v', 5000, 5000);
    await commitEpoch(state, 3, changelog);
    expect(keysOf(state)).toBe(1);
    await state.close({ clean: true });
  });

  it('sessions: each one, also when several are of one key', async () => {
    const state = await open(sessionStore({ name: 's', retention: 1000, engine }));
    const sessions = state.store('s') as SessionStore<string, string>;
    const changelog = new Changelog();
    for (const key of ['a', 'b']) for (const start of [0, 100, 200]) sessions.put(key, start, start + 50, 'v');
    await commitEpoch(state, 1, changelog);
    sessions.put('a', 100, 150, null);
    expect(keysOf(state)).toBe(5);
    sessions.put('a', 9000, 9000, 'v');
    await commitEpoch(state, 2, changelog);
    expect(keysOf(state)).toBe(1);
    await state.close({ clean: true });
  });

  it('sliding windows', async () => {
    const state = await open(slidingWindowStore({ name: 's', windowSize: 100, retention: 1000, engine }));
    const windows = state.store('s') as SlidingWindowStore<string, string>;
    for (const start of [0, 10, 20]) windows.put('a', start, 'v', start);
    windows.put('a', 10, null, 30);
    expect(keysOf(state)).toBe(2);
    await state.close({ clean: true });
  });

  it('joins: records that wait', async () => {
    const directory = await directories.make();
    const spec = joinWindowStore({ name: 's', retention: 1000, engine });
    let state = await at(directory, spec);
    const changelog = new Changelog();
    const records = (): JoinWindowStore<string, string> => state.store('s') as JoinWindowStore<string, string>;
    for (let time = 0; time < 500; time += 10) records().put('a', 'v', time);
    await commitEpoch(state, 1, changelog);
    expect(keysOf(state)).toBe(50);
    if (engine === 'leveldb') {
      await state.close({ clean: true });
      state = await at(directory, spec);
      expect(keysOf(state)).toBe(50);
    }
    records().put('a', 'v', 100_000);
    await commitEpoch(state, 2, changelog);
    expect(keysOf(state)).toBe(1);
    await state.close({ clean: true });
  });

  it('versions: keys that have one now', async () => {
    const state = await open(versionedStore({ name: 's', historyRetention: 1000, engine }));
    const versions = state.store('s') as VersionedKeyValueStore<string, string>;
    for (const key of ['a', 'b', 'c']) for (const time of [10, 20, 30]) versions.put(key, 'v', time);
    versions.put('b', null, 40);
    versions.put('b', null, 50);
    expect(keysOf(state)).toBe(2);
    await state.close({ clean: true });
  });

  it('buffers: what waits', async () => {
    const state = await open(timeOrderedBuffer({ name: 's', engine }));
    const buffer = state.store('s') as TimeOrderedBuffer<string, string>;
    for (const time of [10, 20, 30]) buffer.put(time, 0, 'a', 'v');
    expect(keysOf(state)).toBe(3);
    await state.close({ clean: true });
  });

  it.each([
    ['a table', timestampedKeyValueStore({ name: 's', engine })],
    ['windows', timestampedWindowStore({ name: 's', windowSize: 100, retention: 10_000, engine })],
  ])('%s: is right again after a restore of a changelog that has each key many times', async (_what, spec) => {
    const changelog = new Changelog();
    const first = await open(spec);
    for (let epoch = 1; epoch <= 10; epoch++) {
      for (let key = 0; key < 30; key++) {
        if (spec.kind === 'timestampedKeyValue') (first.store('s') as TimestampedKeyValueStore<string, string>).put(`${key}`, 'v', epoch);
        else (first.store('s') as TimestampedWindowStore<string, string>).put(`${key % 10}`, 'v', 100 * (key % 3), epoch);
      }
      await commitEpoch(first, epoch, changelog);
    }
    await first.close({ clean: true });
    const second = await open(spec);
    await changelog.restore(second, 's', null);
    if (engine === 'memory') expect(keysOf(second)).toBe(30);
    else {
      // Who only looks has nothing counted.
      const seen = (): number => second.sizes.snapshot()['s']!.estimateNumKeys;
      const before = seen();
      for (let i = 0; i < 10; i++) await second.sizes.measure();
      expect(seen()).toBe(before);
      expect(before).toBeGreaterThan(30);
    }
    await eventually('the keys are counted anew', () => keysOf(second) === 30);
    await second.close({ clean: true });
  });

  // A copy on another instance: whoever asks, asks between two batches of its restore.
  it('is right again when somebody has asked while restored records were on their way to the engine', async () => {
    const changelog = new Changelog();
    const first = await open(keyValueStore({ name: 's', engine }));
    for (let epoch = 1; epoch <= 3; epoch++) {
      for (let key = 0; key < 20; key++) (first.store('s') as KeyValueStore<string, string>).put(`${key}`, `v${epoch}`);
      await commitEpoch(first, epoch, changelog);
    }
    await first.close({ clean: true });
    const second = await open(keyValueStore({ name: 's', engine }));
    second.beginRestore('s', null);
    for (const { timestamp, key, value } of changelog.records)
      second.restoreRecord('s', timestamp, key, 0, key.length, value, 0, value?.length ?? 0);
    second.sizes.refresh();
    for (let i = 0; i < 10; i++) await second.sizes.measure();
    const flushed = second.restoreFlush(new Map([['s', changelog.end]]));
    second.sizes.refresh();
    await flushed;
    await eventually('the keys are counted', () => keysOf(second) === 20);
    await second.close({ clean: true });
  });
});

describe('the bytes of a store', () => {
  const text = 'x'.repeat(1000);

  it.each([
    ['keyValue', keyValueStore({ name: 's', engine: 'memory' })],
    ['window', timestampedWindowStore({ name: 's', windowSize: 1, retention: 1_000_000, engine: 'memory' })],
    ['session', sessionStore({ name: 's', retention: 1_000_000, engine: 'memory' })],
    ['joinWindow', joinWindowStore({ name: 's', retention: 1_000_000, engine: 'memory' })],
    ['versioned', versionedStore({ name: 's', historyRetention: 1_000_000, engine: 'memory' })],
    ['buffer', timeOrderedBuffer({ name: 's', engine: 'memory' })],
  ])('in memory grow with the values, and are there after a restore (%s)', async (_kind, spec) => {
    const state = await openState({ directory: null, specs: [spec], valueSerde: serdes.string as never });
    const store = state.store('s');
    for (let i = 0; i < 100; i++) {
      switch (store.kind) {
        case 'keyValue':
          (store as KeyValueStore<string, string>).put(`${i}`, text);
          break;
        case 'timestampedWindow':
          (store as TimestampedWindowStore<string, string>).put(`${i}`, text, i, i);
          break;
        case 'session':
          (store as SessionStore<string, string>).put(`${i}`, i, i, text);
          break;
        case 'joinWindow':
          (store as JoinWindowStore<string, string>).put(`${i}`, text, i);
          break;
        case 'versioned':
          (store as VersionedKeyValueStore<string, string>).put(`${i}`, text, i);
          break;
        default:
          (store as TimeOrderedBuffer<string, string>).put(i, 0, `${i}`, text);
      }
    }
    const changelog = new Changelog();
    await commitEpoch(state, 1, changelog);
    const restored = await openState({ directory: null, specs: [spec], valueSerde: serdes.string as never });
    await changelog.restore(restored, 's', null);
    for (const each of [state, restored]) {
      const { memoryBytes, diskBytes } = sizeOf(each);
      expect(memoryBytes).toBeGreaterThan(100_000);
      expect(memoryBytes).toBeLessThan(500_000);
      expect(diskBytes).toBe(0);
      await each.close({ clean: true });
    }
  });

  it('in memory are after a restore what they were, also where sessions have grown: a deletion is no value without bytes', async () => {
    const specs = [sessionStore({ name: 's', retention: 1_000_000, engine: 'memory' })];
    const state = await openState({ directory: null, specs, valueSerde: serdes.string as never });
    const sessions = state.store('s') as SessionStore<string, string>;
    const changelog = new Changelog();
    for (let end = 0; end < 5; end++) {
      for (let i = 0; i < 100; i++) {
        if (end > 0) sessions.put(`${i}`, i, i + end - 1, null);
        sessions.put(`${i}`, i, i + end, text);
      }
      await commitEpoch(state, end + 1, changelog);
    }
    const restored = await openState({ directory: null, specs, valueSerde: serdes.string as never });
    await changelog.restore(restored, 's', null);
    const [before, after] = [state, restored].map((each) => sizeOf(each).memoryBytes) as [number, number];
    expect(after).toBeGreaterThan(0.9 * before);
    expect(after).toBeLessThan(1.1 * before);
    for (const each of [state, restored]) await each.close({ clean: true });
  });

  it('in memory are there without a changelog too, and whatever the serde does', async () => {
    const failing = {
      ...serdes.string,
      name: 'failing',
      serialize: () => Buffer.alloc(0),
      encode: () => {
        throw new Error('not for storage');
      },
    };
    for (const [valueSerde, least] of [
      [serdes.string, 100 * 2 * text.length],
      [failing, 100],
    ] as const) {
      const specs = [keyValueStore({ name: 's', engine: 'memory', logged: false })];
      const state = await openState({ directory: null, specs, valueSerde: valueSerde as never });
      const changelog = new Changelog();
      for (let i = 0; i < 100; i++) {
        (state.store('s') as KeyValueStore<string, string>).put(`${i}`, text);
        if (i % 10 === 9) await commitEpoch(state, i, changelog);
      }
      expect(sizeOf(state).memoryBytes).toBeGreaterThan(least);
      expect(changelog.records).toEqual([]);
      await state.close({ clean: true });
    }
  });

  it('on disk are LevelDB’s, known at a start, and asked for at most once in five seconds', async () => {
    const directory = await directories.make();
    let now = 1_000_000;
    const specs = [keyValueStore({ name: 's' }), keyValueStore({ name: 'empty' })];
    const open = (): Promise<TaskState> => openState({ directory, specs, now: () => now, valueSerde: serdes.bytes as never });
    let state = await open();
    expect(sizeOf(state)).toEqual({ estimateNumKeys: 0, memoryBytes: 0, diskBytes: 0 });
    const changelog = new Changelog();
    const values = (epoch: number): Buffer => {
      const value = Buffer.alloc(10_000);
      for (let i = 0; i < value.length; i++) value[i] = (i * i * 31 + epoch * 7 + (i >> 3)) & 255;
      return value;
    };
    const write = async (epoch: number): Promise<void> => {
      const store = state.store('s') as KeyValueStore<string, Buffer>;
      for (let i = 0; i < 100; i++) store.put(`${epoch}-${i}`, values(epoch * 100 + i));
      await commitEpoch(state, epoch, changelog);
    };
    for (let epoch = 1; epoch <= 12; epoch++) await write(epoch);
    expect(sizeOf(state).diskBytes).toBe(0);
    // LevelDB writes its files when it likes: what it is asked first may be before.
    const asked = (): StoreSize => {
      now += 5000;
      return sizeOf(state);
    };
    await eventually('the files are measured', () => asked().diskBytes > 100_000);
    expect(sizeOf(state, 'empty').diskBytes).toBe(0);
    const known = sizeOf(state).diskBytes;
    await state.close({ clean: true });
    state = await open();
    expect(sizeOf(state).diskBytes).toBeGreaterThanOrEqual(known);
    expect(sizeOf(state).estimateNumKeys).toBe(1200);
    await state.close({ clean: true });
  });
});
