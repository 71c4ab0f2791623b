import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../src/observability/logger.js';
import { parseTaskId } from '../../src/rebalance/task-id.js';
import { LocalState } from '../../src/runtime/local-state.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { serdes } from '../../src/serdes/serdes.js';
import { EngineMemory } from '../../src/stores/engine-memory.js';
import { StateDirectory } from '../../src/stores/state-directory.js';
import type { TaskState, TaskStateOptions } from '../../src/stores/task-state.js';
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

const mebibyte = 2 ** 20;

const read = (engineBytes = 48 * mebibyte): Promise<LocalState> =>
  LocalState.read(directory, new EngineMemory(engineBytes, silentLogger), silentLogger);

const shared = { cacheBytes: () => 1000, wanted: () => [] };

function task(taskId: string, engine: 'leveldb' | 'memory' = 'leveldb'): Omit<TaskStateOptions, 'cacheBytes'> {
  const spec = stores.keyValue({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.string, engine });
  return {
    taskId,
    directory: directory.taskDirectory(taskId),
    specs: [spec],
    defaultEngine: engine,
    serdes: (given) => new SerdeDefaults(null, null).ofStore(given),
    logger: silentLogger,
  };
}

describe('the local state', () => {
  it('counts an open task as far as its stores have got', async () => {
    const local = await read();
    const state = await local.open(task('0_1'), shared);
    expect(local.tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 0 }]);
    await state.endRestore('counts', 17);
    expect(local.tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
    await state.close({ clean: true });
  });

  it('knows after a restart how far closed tasks had got', async () => {
    const local = await read();
    const state = await local.open(task('0_1'), shared);
    await state.endRestore('counts', 17);
    await state.close({ clean: true });
    await untilNoted('0_1', 17);
    expect((await read()).tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
  });

  it('knows after a crash what was noted last', async () => {
    const local = await read();
    const state = await local.open(task('0_1'), shared);
    await state.endRestore('counts', 17);
    local.save();
    await untilNoted('0_1', 17);
    expect((await read()).tasks).toEqual([{ task: parseTaskId('0_1'), offsetSum: 17 }]);
    await state.close({ clean: false });
  });

  it('forgets state in memory when it is closed', async () => {
    const local = await read();
    const state = await local.open(task('0_1', 'memory'), shared);
    await state.endRestore('counts', 17);
    expect(local.tasks).toHaveLength(1);
    await state.close({ clean: true });
    expect(local.tasks).toEqual([]);
  });

  it('forgets what was removed', async () => {
    const local = await read();
    const state = await local.open(task('0_1'), shared);
    await state.endRestore('counts', 17);
    await state.close({ clean: true });
    local.removed(['0_1']);
    expect(local.tasks).toEqual([]);
  });
});

describe('the memory of tasks with databases', () => {
  const wanted = ['0_0', '0_1', '0_2'];

  it('is shared by those that are open and those to come, and one share is left', async () => {
    const local = await read(48 * mebibyte);
    const states = await Promise.all(wanted.map((id) => local.open(task(id), { cacheBytes: () => 9000, wanted: () => wanted })));
    expect(local.memory.engineBytes).toBe(36 * mebibyte);
    await Promise.all(states.map((state) => state.close({ clean: true })));
  });

  it('is never more than there is, as tasks come and go', async () => {
    const local = await read(8 * mebibyte);
    const open = new Map<string, TaskState>();
    const most = async (ids: readonly string[]): Promise<void> => {
      for (const id of ids) {
        open.set(id, await local.open(task(id), { cacheBytes: () => 9000, wanted: () => [...open.keys(), ...ids] }));
        expect(local.memory.engineBytes).toBeLessThanOrEqual(8 * mebibyte);
      }
    };
    await most(['0_0']);
    await most(['0_1', '0_2', '0_3']);
    await open.get('0_0')?.close({ clean: true });
    open.delete('0_0');
    await most(['0_4', '0_5']);
    expect(local.memory.engineBytes).toBeGreaterThan(5 * mebibyte);
    for (const state of open.values()) await state.close({ clean: true });
    expect(local.memory.engineBytes).toBe(0);
  });

  it('is given back by a database that could not be opened', async () => {
    const engines = new EngineMemory(48 * mebibyte, silentLogger);
    const local = await LocalState.read(directory, engines, silentLogger);
    const state = await local.open(task('0_0'), { cacheBytes: () => 9000, wanted: () => [] });
    await expect(local.open(task('0_0'), { cacheBytes: () => 9000, wanted: () => [] })).rejects.toMatchObject({
      code: 'MILL_STORE_DIRECTORY_LOCKED',
    });
    expect(engines.used).toBe(24 * mebibyte);
    await state.close({ clean: true });
  });

  it('is not taken by stores in memory', async () => {
    const local = await read(48 * mebibyte);
    const state = await local.open(task('0_0', 'memory'), { cacheBytes: () => 9000, wanted: () => [] });
    expect(local.memory).toEqual({ cachedBytes: 0, engineBytes: 0 });
    await state.close({ clean: true });
  });
});

async function untilNoted(taskId: string, sum: number): Promise<void> {
  const deadline = Date.now() + 5000;
  while ((await directory.offsetSum(taskId)) !== sum) {
    if (Date.now() > deadline) throw new Error(`the note of ${taskId} was not written`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
