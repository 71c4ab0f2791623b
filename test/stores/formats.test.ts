/** Bytes of changelog records and configs of changelog topics, as Kafka Streams writes them. */
import { describe, expect, it } from '@jest/globals';
import { changelogConfigs } from '../../src/stores/changelog-topic.js';
import type {
  JoinWindowStore,
  KeyValueStore,
  SessionStore,
  SlidingWindowStore,
  TimeOrderedBuffer,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  VersionedKeyValueStore,
  WindowStore,
} from '../../src/stores/store.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from '../../src/stores/store-builders.js';
import { stores } from '../../src/stores/stores.js';
import { Changelog, openState } from './store-harness.js';

const day = 86_400_000;

describe('changelog records', () => {
  const written = async () => {
    const state = await openState({
      directory: null,
      specs: [
        keyValueStore({ name: 'kv' }),
        timestampedKeyValueStore({ name: 'tkv' }),
        windowStore({ name: 'w', windowSize: 10, retention: day }),
        timestampedWindowStore({ name: 'tw', windowSize: 10, retention: day }),
      ],
      recordTimestamp: () => 1000,
    });
    (state.store('kv') as KeyValueStore<string, number>).put('ab', 258);
    (state.store('tkv') as TimestampedKeyValueStore<string, number>).put('ab', 258, 2000);
    (state.store('w') as WindowStore<string, number>).put('ab', 258, 1_600_000_000_000);
    (state.store('tw') as TimestampedWindowStore<string, number>).put('ab', 258, 1_600_000_000_000, 3000);
    const changelog = new Changelog();
    state.freeze(1, changelog);
    await state.close({ clean: false });
    return Object.fromEntries(changelog.records.map((r) => [r.store, [r.key.toString('hex'), r.value?.toString('hex'), r.timestamp]]));
  };

  it('hold plain values, and the timestamp in the record', async () => {
    const records = await written();
    expect(records['kv']).toEqual(['6162', '00000102', 1000]);
    expect(records['tkv']).toEqual(['6162', '00000102', 2000]);
  });

  it('of window stores have key, 8-byte start, 4-byte sequence', async () => {
    const records = await written();
    expect(records['w']).toEqual(['6162' + '00000174876e8000' + '00000000', '00000102', 1000]);
    expect(records['tw']).toEqual(['6162' + '00000174876e8000' + '00000000', '00000102', 3000]);
  });
});

describe('changelog records of stores with lists', () => {
  it('are one a session, window, record, version or row, as Kafka Streams’', async () => {
    const state = await openState({
      directory: null,
      specs: [
        stores.session({ name: 's', retention: day }),
        stores.slidingWindow({ name: 'sw', windowSize: 10, retention: day }),
        stores.joinWindow({ name: 'j', retention: day }),
        stores.versioned({ name: 'v', historyRetention: day }),
        stores.timeOrderedBuffer({ name: 'b' }),
        stores.timeOrderedBuffer({ name: 'bk', byKey: true }),
      ],
      recordTimestamp: () => 1000,
    });
    (state.store('s') as SessionStore<string, number>).put('ab', 1, 2, 258);
    (state.store('sw') as SlidingWindowStore<string, number>).put('ab', 1, 258, 2000);
    const joined = state.store('j') as JoinWindowStore<string, number>;
    joined.put('ab', 258, 1);
    joined.put('ab', 259, 1);
    (state.store('v') as VersionedKeyValueStore<string, number>).put('ab', 258, 3000);
    (state.store('v') as VersionedKeyValueStore<string, number>).put('ab', null, 4000);
    (state.store('b') as TimeOrderedBuffer<string, number>).put(1, 1, 'ab', 258);
    (state.store('bk') as TimeOrderedBuffer<string, number>).put(1, 1, 'ab', 258);
    const changelog = new Changelog();
    state.freeze(1, changelog);
    await state.close({ clean: false });
    expect(changelog.records.map((r) => [r.store, r.key.toString('hex'), r.value?.toString('hex') ?? null, r.timestamp])).toEqual([
      ['s', '6162' + '0000000000000002' + '0000000000000001', '00000102', 1000],
      ['sw', '6162' + '0000000000000001' + '00000000', '00000102', 2000],
      ['j', '6162' + '0000000000000001' + '00000000', '00000102', 1],
      ['j', '6162' + '0000000000000001' + '00000001', '00000103', 1],
      ['v', '6162', '00000102', 3000],
      ['v', '6162', null, 4000],
      ['b', '0000000000000001' + '01' + '6162', '00000102', 1],
      ['bk', '6162', '0000000000000001' + '01' + '00000102', 1],
    ]);
  });
});

describe('changelog topics', () => {
  it('of key-value stores are compacted', () => {
    expect(changelogConfigs(timestampedKeyValueStore({ name: 'a' }))).toEqual({
      'message.timestamp.type': 'CreateTime',
      'cleanup.policy': 'compact',
    });
  });

  it('of window stores are compacted and kept for the retention and a day', () => {
    expect(changelogConfigs(windowStore({ name: 'a', windowSize: 10, retention: 100 }))).toEqual({
      'message.timestamp.type': 'CreateTime',
      'cleanup.policy': 'compact,delete',
      'retention.ms': String(100 + day),
    });
  });

  it.each([
    stores.session({ name: 'a', retention: 100 }),
    stores.slidingWindow({ name: 'a', windowSize: 10, retention: 100 }),
    stores.joinWindow({ name: 'a', retention: 100 }),
  ])('of $kind stores are as those of window stores', (spec) => {
    expect(changelogConfigs(spec)).toMatchObject({ 'cleanup.policy': 'compact,delete', 'retention.ms': String(100 + day) });
  });

  it('of versioned stores are compacted after the history and a day', () => {
    expect(changelogConfigs(stores.versioned({ name: 'a', historyRetention: 100 }))).toEqual({
      'message.timestamp.type': 'CreateTime',
      'cleanup.policy': 'compact',
      'min.compaction.lag.ms': String(100 + day),
    });
  });

  it('take extra configs, which win', () => {
    expect(
      changelogConfigs(keyValueStore({ name: 'a', changelogConfigs: { 'segment.bytes': '1', 'cleanup.policy': 'compact,delete' } })),
    ).toMatchObject({
      'segment.bytes': '1',
      'cleanup.policy': 'compact,delete',
    });
  });
});

describe('store specs', () => {
  it('are frozen and default to logged, the app’s engine and the app’s serdes', () => {
    const spec = keyValueStore({ name: 'a' });
    expect(Object.isFrozen(spec)).toBe(true);
    expect(spec).toMatchObject({ kind: 'keyValue', logged: true, engine: null, keySerde: null, valueSerde: null, trackChanges: false });
  });

  it.each(['', 'a/b', 'a b', '..\u0000', 'x'.repeat(201)])('refuse the name %j', (name) => {
    expect(() => keyValueStore({ name })).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
  });

  it.each([
    [-1, 10],
    [1.5, 10],
    [20, 10],
    [10, NaN],
  ])('refuse windows of %d ms kept for %d ms', (windowSize, retention) => {
    expect(() => windowStore({ name: 'w', windowSize, retention })).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
  });
});
