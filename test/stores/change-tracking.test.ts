import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../src/observability/logger.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { StoreSpec, TimestampedKeyValueStore } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';

const spec: StoreSpec = {
  name: 'st',
  kind: 'timestampedKeyValue',
  keySerde: serdes.string,
  valueSerde: serdes.string,
  engine: 'memory',
  logged: true,
  changelogConfigs: {},
  trackChanges: 'ifEmittingOnCommit',
};

async function storeOf(emitsOnCommit: boolean): Promise<TimestampedKeyValueStore<string, string>> {
  const state = await TaskState.open({
    taskId: '0_0',
    directory: null,
    specs: [spec],
    emitsOnCommit,
    defaultEngine: 'memory',
    serdes: () => ({ key: compileSerde<unknown>(serdes.string), value: compileSerde<unknown>(serdes.string) }),
    cacheBytes: 0,
    logger: silentLogger,
  });
  return state.store('st') as TimestampedKeyValueStore<string, string>;
}

describe('tracking changes as the app emits', () => {
  it('hands over changes when the app emits on commit', async () => {
    const store = await storeOf(true);
    store.put('a', '1', 5);
    const seen: unknown[] = [];
    await store.drainChanges(({ key, value, before }) => void seen.push([key, value, before]));
    expect(seen).toEqual([['a', '1', null]]);
  });

  it('keeps no list when the app emits on update, since nobody would ever drain it', async () => {
    const store = await storeOf(false);
    store.put('a', '1', 5);
    expect(() => store.drainChanges(() => undefined)).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
  });
});
