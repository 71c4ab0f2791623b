import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../src/observability/logger.js';
import { parseTaskId } from '../../src/rebalance/task-id.js';
import { LocalState } from '../../src/runtime/local-state.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { serdes } from '../../src/serdes/serdes.js';
import { StateDirectory } from '../../src/stores/state-directory.js';
import type { TaskStateOptions } from '../../src/stores/task-state.js';
import { stores } from '../../src/stores/stores.js';

let stateDir: string;
let directory: StateDirectory;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'millrace-local-state-'));
  directory = await StateDirectory.acquire({ applicationId: 'app', stateDir });
});
afterEach(async () => {
  await directory.release();
  await rm(stateDir, { recursive: true, force: true });
});

const read = (): Promise<LocalState> => LocalState.read(directory, silentLogger);

function task(taskId: string, engine: 'leveldb' | 'memory' = 'leveldb'): TaskStateOptions {
  const spec = stores.keyValue({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.string, engine });
  return {
    taskId,
    directory: directory.taskDirectory(taskId),
    specs: [spec],
    defaultEngine: engine,
    serdes: (given) => new SerdeDefaults(null, null).ofStore(given),
    cacheBytes: 1000,
    logger: silentLogger,
  };
}

describe('the local state', () => {
  it('counts an open task as far as its stores have got', async () => {
    const local = await read();
    const state = await local.open(task('0_1'));
    expect(local.tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 0 }]);
    await state.endRestore('counts', 17);
    expect(local.tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
    await state.close({ clean: true });
  });

  it('knows after a restart how far closed tasks had got', async () => {
    const local = await read();
    const state = await local.open(task('0_1'));
    await state.endRestore('counts', 17);
    await state.close({ clean: true });
    await untilNoted('0_1', 17);
    expect((await read()).tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
  });

  it('knows after a crash what was noted last', async () => {
    const local = await read();
    const state = await local.open(task('0_1'));
    await state.endRestore('counts', 17);
    local.save();
    await untilNoted('0_1', 17);
    expect((await read()).tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
    await state.close({ clean: false });
  });

  it('forgets state in memory when it is closed', async () => {
    const local = await read();
    const state = await local.open(task('0_1', 'memory'));
    await state.endRestore('counts', 17);
    expect(local.tasks).toHaveLength(1);
    await state.close({ clean: true });
    expect(local.tasks).toEqual([]);
  });

  it('forgets what was removed', async () => {
    const local = await read();
    const state = await local.open(task('0_1'));
    await state.endRestore('counts', 17);
    await state.close({ clean: true });
    local.removed(['0_1']);
    expect(local.tasks).toEqual([]);
  });
});

async function untilNoted(taskId: string, sum: number): Promise<void> {
  const deadline = Date.now() + 5000;
  while ((await directory.offsetSum(taskId)) !== sum) {
    if (Date.now() > deadline) throw new Error(`the note of ${taskId} was not written`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
