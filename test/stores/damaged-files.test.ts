/** What becomes of a task's state when the files under it are damaged, on a database that was closed and on one that is open. */
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import type { TaskState } from '../../src/stores/task-state.js';
import { Changelog, commitEpoch, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll());

type Kv = TimestampedKeyValueStore<string, number>;
const specs = [timestampedKeyValueStore({ name: 'kv' })];

async function open(directory: string): Promise<{ readonly state: TaskState; readonly kv: Kv }> {
  const state = await openState({ directory, specs });
  return { state, kv: state.store('kv') as Kv };
}

const rows = 200;

/** One epoch that writes every row; each is a batch of about 8 KB in LevelDB's log. */
async function writeEpoch(state: TaskState, kv: Kv, epoch: number): Promise<void> {
  for (let i = 0; i < rows; i++) kv.put(`key-${i}`.padEnd(30, 'x'), epoch * 1000 + (i % 7), epoch);
  await commitEpoch(state, epoch, new Changelog());
}

/** The state after `epochs`, as a process that was killed leaves it. */
async function killedAfter(directory: string, epochs: number): Promise<void> {
  const { state, kv } = await open(directory);
  for (let epoch = 1; epoch <= epochs; epoch++) await writeEpoch(state, kv, epoch);
  await state.close({ clean: false });
}

/** Epochs of the rows that are there; one, when nothing is wrong. */
async function epochsFound({ state, kv }: { readonly state: TaskState; readonly kv: Kv }): Promise<readonly number[]> {
  const found = new Set<number>();
  let count = 0;
  for await (const [, { value }] of kv.range()) {
    found.add(Math.floor(value / 1000));
    count++;
  }
  expect([0, rows]).toContain(count);
  expect(count === 0 ? -1 : [...found][0]).toBe(state.epoch);
  return [...found];
}

async function filesOf(directory: string, ending: RegExp): Promise<string[]> {
  return (await readdir(join(directory, 'db'))).filter((name) => ending.test(name)).map((name) => join(directory, 'db', name));
}

async function damage(file: string, at: (size: number) => number, bytes = 1): Promise<void> {
  const content = await readFile(file);
  const from = at(content.length);
  for (let i = from; i < Math.min(content.length, from + bytes); i++) content[i] = (content[i] ?? 0) ^ 0x5a;
  await writeFile(file, content);
}

describe('a write-ahead log that is damaged', () => {
  it('in its middle would leave a gap: the state is deleted, not used', async () => {
    const directory = await directories.make();
    await killedAfter(directory, 12);
    for (const file of await filesOf(directory, /\.log$/)) await damage(file, (size) => Math.floor(size / 2), 8);
    const again = await open(directory);
    expect(again.state.wiped).toBe('corrupted');
    expect(await epochsFound(again)).toEqual([]);
    await writeEpoch(again.state, again.kv, 20);
    await again.state.close({ clean: true });
    const later = await open(directory);
    expect(later.state.wiped).toBeNull();
    expect(await epochsFound(later)).toEqual([20]);
    await later.state.close({ clean: true });
  });

  it('at its beginning too, where no batch was before', async () => {
    const directory = await directories.make();
    await killedAfter(directory, 12);
    for (const file of await filesOf(directory, /\.log$/)) await damage(file, () => 0, 8);
    const again = await open(directory);
    expect(again.state.wiped).toBe('corrupted');
    await again.state.close({ clean: true });
  });

  it('at its end is behind: an earlier epoch, whole, whose changelog tail is read again', async () => {
    const directory = await directories.make();
    await killedAfter(directory, 12);
    for (const file of await filesOf(directory, /\.log$/)) await truncate(file, (await readFile(file)).length - 100);
    const again = await open(directory);
    expect(again.state.wiped).toBeNull();
    expect(await epochsFound(again)).toEqual([11]);
    await again.state.close({ clean: true });
  });

  it('anywhere, by anything, never gives rows of different epochs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0, max: 0.9999, noNaN: true }),
        fc.integer({ min: 1, max: 70_000 }),
        fc.boolean(),
        async (at, bytes, cut) => {
          const directory = await directories.make();
          await killedAfter(directory, 10);
          for (const file of await filesOf(directory, /\.log$/)) {
            if (cut) await truncate(file, Math.floor((await readFile(file)).length * at));
            else await damage(file, (size) => Math.floor(size * at), bytes);
          }
          const again = await open(directory);
          expect((await epochsFound(again)).length).toBeLessThanOrEqual(1);
          await again.state.close({ clean: true });
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a database that is damaged', () => {
  /** Closed in order twice, so that rows are in a table file. */
  async function withTable(): Promise<string> {
    const directory = await directories.make();
    for (let epoch = 1; epoch <= 3; epoch++) {
      const { state, kv } = await open(directory);
      await writeEpoch(state, kv, epoch);
      await state.close({ clean: true });
    }
    expect((await filesOf(directory, /\.ldb$/)).length).toBeGreaterThan(0);
    return directory;
  }

  it.each([
    ['a table cut to nothing', /\.ldb$/, (file: string) => truncate(file, 0)],
    ['a table cut in half', /\.ldb$/, async (file: string) => truncate(file, Math.floor((await readFile(file)).length / 2))],
    ['the footer of a table', /\.ldb$/, (file: string) => damage(file, (size) => size - 8, 8)],
    ['a table that is gone', /\.ldb$/, (file: string) => rm(file)],
    ['the manifest', /^MANIFEST/, (file: string) => damage(file, (size) => Math.floor(size / 2), 4)],
    ['a manifest that is empty', /^MANIFEST/, (file: string) => truncate(file, 0)],
    ['CURRENT', /^CURRENT$/, (file: string) => writeFile(file, 'MANIFEST-999999\n')],
    ['an empty CURRENT', /^CURRENT$/, (file: string) => truncate(file, 0)],
    ['a CURRENT that is gone', /^CURRENT$/, (file: string) => rm(file)],
  ])('%s: it starts over', async (_what, files, harm) => {
    const directory = await withTable();
    for (const file of await filesOf(directory, files)) await harm(file);
    const again = await open(directory);
    // What LevelDB notices only when it reads is noticed then.
    const failure = await epochsFound(again).then(
      () => null,
      (error: unknown) => error,
    );
    if (failure !== null) expect(failure).toMatchObject({ code: 'MILL_STORE_CORRUPTED' });
    else expect(again.state.wiped).toBe('corrupted');
    await again.state.close({ clean: false });
    const later = await open(directory);
    expect(await epochsFound(later)).toEqual([]);
    await writeEpoch(later.state, later.kv, 9);
    await later.state.close({ clean: true });
    const last = await open(directory);
    expect(await epochsFound(last)).toEqual([9]);
    await last.state.close({ clean: true });
  });
});
