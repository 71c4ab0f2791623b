/** Bytes of changelog records and configs of changelog topics, as Kafka Streams writes them. */
import { describe, expect, it } from '@jest/globals';
import { changelogConfigs, changelogTopic } from '../../src/stores/changelog-topic.js';
import type { KeyValueStore, TimestampedKeyValueStore, TimestampedWindowStore, WindowStore } from '../../src/stores/store.js';
import { keyValueStore, timestampedKeyValueStore, timestampedWindowStore, windowStore } from '../../src/stores/store-builders.js';
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

describe('changelog topics', () => {
  it('are named after application and store', () => {
    expect(changelogTopic('app', 'counts')).toBe('app-counts-changelog');
  });

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
