/** The local state of whole apps, with Kafka in memory: cleaning up, and damage. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in', 2);
  apps.kafka.createTopic('out', 2);
});
afterEach(() => apps.end());

function counts() {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .groupByKey()
    .count({ materialized: { storeName: 'counts' } })
    .toStream()
    .to('out', { keySerde: serdes.string });
  return builder.build();
}

const keys = Array.from({ length: 50 }, (_, i) => `key-${i}`);
const writeEachKey = (): void =>
  apps.kafka.produce(
    'in',
    keys.map((key) => ({ key, value: 'x' })),
  );

/** The committed counts, as a reader of the output sees them. */
function committed(): Map<string, number> {
  const counted = new Map<string, number>();
  for (const { key, value } of apps.kafka.records('out'))
    counted.set(Buffer.from(key!).toString(), Number(Buffer.from(value!).readBigInt64BE()));
  return counted;
}

const allAre = (count: number): Promise<void> =>
  until(`every key is counted ${count} times`, () => {
    const now = committed();
    return keys.every((key) => now.get(key) === count);
  });

const processId = async (root: string): Promise<string> => readFile(join(root, 'app', 'process.json'), 'utf8');

describe('cleanUp()', () => {
  it('deletes the state, before a start and after the end; the next start restores it', async () => {
    const stateDir = await apps.folder();
    const first = await apps.running(counts(), { stateDir });
    writeEachKey();
    await allAre(1);
    await first.close();
    const was = await processId(stateDir);
    expect(await readdir(join(stateDir, 'app', 'tasks'))).toEqual(['0_0', '0_1']);
    await first.cleanUp();
    expect(await readdir(join(stateDir, 'app', 'tasks'))).toEqual([]);
    expect(await processId(stateDir)).toBe(was);
    const second = apps.app(counts(), { stateDir });
    await second.cleanUp();
    const restored: boolean[] = [];
    second.setRestoreListener({ onEnd: ({ whole }) => restored.push(whole) });
    await second.start();
    await until('it runs', () => second.state === 'running');
    expect(restored).toEqual([true, true]);
    writeEachKey();
    await allAre(2);
  });

  it('is refused while the app runs, and by another app in the same folder', async () => {
    const stateDir = await apps.folder();
    const app = await apps.running(counts(), { stateDir });
    await expect(app.cleanUp()).rejects.toMatchObject({
      code: 'MILL_STATE_INVALID',
      message: expect.stringContaining('this one is running'),
    });
    await expect(apps.app(counts(), { stateDir }).cleanUp()).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    writeEachKey();
    await allAre(1);
  });

  it('holds a start() off while it is under way', async () => {
    const stateDir = await apps.folder();
    const app = apps.app(counts(), { stateDir });
    const cleaning = app.cleanUp();
    await expect(app.start()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID', message: expect.stringContaining('cleanUp()') });
    await cleaning;
    await app.start();
  });
});

describe('state of tasks that have moved away', () => {
  it('is deleted after stateCleanupDelay; that of tasks here stays', async () => {
    const [one, two] = [await apps.folder(), await apps.folder()];
    const app = await apps.running(counts(), { stateDir: one, stateCleanupDelay: 1000 });
    writeEachKey();
    await allAre(1);
    const tasks = (): Promise<string[]> => readdir(join(one, 'app', 'tasks'));
    expect(await tasks()).toEqual(['0_0', '0_1']);
    const other = await apps.running(counts(), { stateDir: two });
    await until('each has a task', () => owned(app).length === 1 && owned(other).length === 1);
    let left: string[] = [];
    await until('the other’s state is gone', () => {
      void tasks().then((found) => (left = found));
      return left.length === 1;
    });
    expect(left).toEqual(owned(app));
    await other.close();
    writeEachKey();
    await allAre(2);
  });
});

const owned = (app: StreamsApp): readonly string[] => app.metrics().group?.ownedTasks ?? [];

describe('a damaged database', () => {
  it('is found at the start: deleted, restored whole, logged and counted; no count is wrong', async () => {
    const stateDir = await apps.folder();
    const first = await apps.running(counts(), { stateDir });
    writeEachKey();
    await allAre(1);
    await first.close();
    const folder = join(stateDir, 'app', 'tasks', '0_0', 'db');
    const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!;
    await writeFile(join(folder, manifest), 'damaged');
    const second = await apps.running(counts(), { stateDir });
    expect(second.metrics().tasks['0_0']?.damagedStates).toBe(1);
    expect(second.metrics().tasks['0_1']?.damagedStates).toBe(0);
    expect(apps.logged.filter(({ message }) => message.includes('could not be read: it is deleted'))).toMatchObject([
      { level: 'warn', fields: { task: '0_0', err: { code: 'MILL_STORE_CORRUPTED' } } },
    ]);
    writeEachKey();
    await allAre(2);
  });

  it('is found while the app runs, when a row is read: the same', async () => {
    const stateDir = await apps.folder();
    for (let round = 1; round <= 3; round++) {
      const app = await apps.running(counts(), { stateDir });
      writeEachKey();
      await allAre(round);
      await app.close();
    }
    // Tables are opened late: the damage shows at the first read of a row.
    for (const task of ['0_0', '0_1']) {
      const folder = join(stateDir, 'app', 'tasks', task, 'db');
      for (const name of (await readdir(folder)).filter((found) => found.endsWith('.ldb'))) {
        const content = await readFile(join(folder, name));
        await writeFile(join(folder, name), content.fill(0x5a, content.length - 48));
      }
    }
    const app = await apps.running(counts(), { stateDir });
    writeEachKey();
    await allAre(4);
    const { tasks } = app.metrics();
    expect(Object.values(tasks).map(({ damagedStates }) => damagedStates)).toEqual([1, 1]);
    expect(app.state).toBe('running');
  });
});
