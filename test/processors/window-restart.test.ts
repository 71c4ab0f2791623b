import { describe, expect, it } from '@jest/globals';
import { windowCountOperator } from '../../src/processors/window-count.js';
import { countSerde } from '../../src/serdes/count.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { StoreSpec } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';
import { tumbling } from '../../src/time/time-windows.js';
import { OperatorHarness } from './harness/operator-harness.js';

const windows = tumbling({ size: 10 });
const spec: StoreSpec = {
  name: 'st',
  kind: 'timestampedWindow',
  keySerde: serdes.string,
  valueSerde: countSerde,
  engine: 'memory',
  logged: true,
  changelogConfigs: {},
  windowSize: 10,
  retention: 10,
  closeTracking: true,
};

interface Logged {
  timestamp: number;
  key: Buffer;
  value: Buffer | null;
}

const open = () =>
  TaskState.open({
    taskId: '0_0',
    directory: null,
    specs: [spec],
    defaultEngine: 'memory',
    serdes: () => ({ key: compileSerde(serdes.string), value: compileSerde(countSerde) }),
    cacheBytes: 0,
    logger: silentLogger,
  });

/** Commits what the store holds; the changelog records that this writes. */
const commit = (state: TaskState, epoch: number): Logged[] => {
  const changelog: Logged[] = [];
  state.freeze(epoch, {
    append: (_store, timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd) =>
      void changelog.push({
        timestamp,
        key: Buffer.from(key.subarray(keyStart, keyEnd)),
        value: value === null ? null : Buffer.from(value.subarray(valueStart, valueEnd)),
      }),
  });
  state.committed(epoch, new Map());
  return changelog;
};

describe('final results of a window store restored from its changelog', () => {
  it('windows that left before do not leave again, and closed ones stay closed', async () => {
    const first = await open();
    const before = new OperatorHarness(windowCountOperator({ storeName: 'st', windows, emit: 'onWindowClose' }), {
      stores: [first.store('st')],
    });
    await before.pipeAll([
      ['A', 'x', 1],
      ['A', 'x', 15],
    ]);
    expect(before.out).toEqual([['[A@0/10]', 1, 1]]);
    const changelog = commit(first, 1);
    await first.close({ clean: false });

    const second = await open();
    second.beginRestore('st', null);
    for (const { timestamp, key, value } of changelog)
      second.restoreRecord('st', timestamp, key, 0, key.length, value, 0, value?.length ?? 0);
    await second.restoreFlush(new Map([['st', changelog.length]]));
    await second.endRestore('st', changelog.length);
    const after = new OperatorHarness(windowCountOperator({ storeName: 'st', windows, emit: 'onWindowClose' }), {
      stores: [second.store('st')],
    });
    await after.pipeAll([
      ['A', 'x', 3],
      ['A', 'x', 16],
      ['A', 'x', 20],
    ]);
    expect(after.out).toEqual([['[A@10/20]', 2, 16]]);
    expect(after.drops).toEqual(['late']);
    await second.close({ clean: true });
  });
});
