import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { ClassicLevel } from 'classic-level';
import { afterEach, describe, expect, it } from '@jest/globals';
import { StateDirectory, defaultStateDir } from '../../src/stores/state-directory.js';
import { temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
const slots: string[] = [];
afterEach(async () => {
  await directories.removeAll();
  for (const applicationId of slots.splice(0)) await rm(join(defaultStateDir(), applicationId), { recursive: true, force: true });
});

const uniqueApplication = () => {
  const applicationId = `test-${randomUUID()}`;
  slots.push(applicationId);
  return applicationId;
};

/** A process that holds LevelDB's lock on `directory`, as an app instance does. */
async function lockInAnotherProcess(directory: string) {
  const script = `const { ClassicLevel } = require('classic-level'); new ClassicLevel(process.argv[1]).open().then(() => console.log('locked')); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-e', script, join(directory, 'lock')], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

describe('a state directory of its own', () => {
  it('keeps the process id and member ids over restarts', async () => {
    const stateDir = await directories.make();
    const first = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    expect(first.root).toBe(join(stateDir, 'app'));
    expect(first.memberId('1')).toBeNull();
    await first.rememberMember('1', 'member-a');
    await first.rememberMember('2', 'member-b');
    await first.rememberMember('2', null);
    await first.release();

    const second = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    expect(second.processId).toBe(first.processId);
    expect(second.memberId('1')).toBe('member-a');
    expect(second.memberId('2')).toBeNull();
    await second.release();
  });

  it('is refused to a second instance', async () => {
    const stateDir = await directories.make();
    const first = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    await expect(StateDirectory.acquire({ applicationId: 'app', stateDir })).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    const other = await StateDirectory.acquire({ applicationId: 'other', stateDir });
    await other.release();
    await first.release();
  });

  it('is free again at once when the process that held it was killed', async () => {
    const stateDir = await directories.make();
    await mkdir(join(stateDir, 'app'), { recursive: true });
    const holder = await lockInAnotherProcess(join(stateDir, 'app'));
    await expect(StateDirectory.acquire({ applicationId: 'app', stateDir })).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    await directory.release();
  });

  it('gives a new identity when its file is damaged', async () => {
    const stateDir = await directories.make();
    const first = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    await first.release();
    await writeFile(join(first.root, 'process.json'), '{"processId":');
    const second = await StateDirectory.acquire({ applicationId: 'app', stateDir });
    expect(second.processId).not.toBe(first.processId);
    expect(JSON.parse(await readFile(join(second.root, 'process.json'), 'utf8'))).toMatchObject({ processId: second.processId });
    await second.release();
  });

  it('says MILL_STORE_IO when it cannot be made', async () => {
    const stateDir = join(await directories.make(), 'file');
    await writeFile(stateDir, '');
    await expect(StateDirectory.acquire({ applicationId: 'app', stateDir })).rejects.toMatchObject({ code: 'MILL_STORE_IO' });
  });

  it('lists tasks and removes those that are old and not owned', async () => {
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir: await directories.make() });
    expect(await directory.tasks()).toEqual([]);
    for (const task of ['0_0', '0_1', '1_0']) {
      const folder = join(directory.taskDirectory(task), 'db');
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, 'CURRENT'), '');
      if (task === '1_0') continue;
      for (const path of [join(folder, 'CURRENT'), folder, directory.taskDirectory(task)]) await utimes(path, 1000, 1000);
    }
    expect(await directory.tasks()).toEqual(['0_0', '0_1', '1_0']);
    expect(await directory.removeStale((task) => task === '0_0', 60_000)).toEqual(['0_1']);
    expect(await directory.tasks()).toEqual(['0_0', '1_0']);
    await directory.release();
  });
});

describe('removing old state', () => {
  it('leaves a task alone whose files come and go while it is looked at', async () => {
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir: await directories.make() });
    const folder = join(directory.taskDirectory('0_0'), 'db');
    await mkdir(folder, { recursive: true });
    // What a file looks like that is gone between the listing and the look at it.
    await symlink(join(folder, 'gone'), join(folder, '000003.log'));
    for (const path of [folder, directory.taskDirectory('0_0')]) await utimes(path, 1000, 1000);
    expect(await directory.removeStale(() => false, 60_000)).toEqual([]);
    expect(await directory.tasks()).toEqual(['0_0']);
    await directory.release();
  });

  it('leaves a task alone whose database is open, by whomever, and one that is wanted at the last moment', async () => {
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir: await directories.make() });
    const databases = ['0_0', '0_1', '0_2'].map((task) => new ClassicLevel(join(directory.taskDirectory(task), 'db')));
    for (const database of databases) await database.open();
    for (const database of databases.slice(1)) await database.close();
    let questions = 0;
    const isWanted = (task: string): boolean => task === '0_1' && ++questions > 1;
    expect(await directory.removeStale(isWanted, 0, Date.now() + 1000)).toEqual(['0_2']);
    expect(await directory.tasks()).toEqual(['0_0', '0_1']);
    await databases[0]?.put('a', 'b');
    await databases[0]?.close();
    expect(await directory.removeStale(() => false, 0, Date.now() + 1000)).toEqual(['0_0', '0_1']);
    expect(await readdir(directory.root)).not.toContain('removed');
    await directory.release();
  });

  it('of all tasks keeps the identity, and is refused while one is open', async () => {
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir: await directories.make() });
    const database = new ClassicLevel(join(directory.taskDirectory('0_0'), 'db'));
    await database.open();
    await expect(directory.removeAll()).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED', details: { task: '0_0' } });
    await database.close();
    await mkdir(directory.taskDirectory('0_1'), { recursive: true });
    expect(await directory.removeAll()).toEqual(['0_0', '0_1']);
    expect(await directory.removeAll()).toEqual([]);
    await directory.release();
    const again = await StateDirectory.acquire({ applicationId: 'app', stateDir: '/ignored', root: directory.root });
    expect([again.processId, await again.tasks()]).toEqual([directory.processId, []]);
    await again.release();
  });
});

describe('the default state directory', () => {
  it('gives each process a slot, and the first free one to the next', async () => {
    const applicationId = uniqueApplication();
    const acquire = () => StateDirectory.acquire({ applicationId, stateDir: null });
    const first = await acquire();
    const second = await acquire();
    expect([first.root, second.root]).toEqual([0, 1].map((n) => join(defaultStateDir(), applicationId, `instance-${n}`)));
    expect(first.processId).not.toBe(second.processId);
    await first.release();
    const third = await acquire();
    expect(third.root).toBe(first.root);
    expect(third.processId).toBe(first.processId);
    await third.release();
    await second.release();
  });
});

describe('a release with other numbers of sub-topologies', () => {
  const folders = async (stateDir: string, tasks: Readonly<Record<string, string>>): Promise<void> => {
    for (const [task, content] of Object.entries(tasks)) {
      await mkdir(join(stateDir, 'app', 'tasks', task), { recursive: true });
      await writeFile(join(stateDir, 'app', 'tasks', task, 'content'), content);
    }
  };
  const contents = async (directory: StateDirectory): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(
        (await directory.tasks()).map(
          async (task) => [task, await readFile(join(directory.taskDirectory(task), 'content'), 'utf8')] as const,
        ),
      ),
    );
  const use = async (stateDir: string, stores?: ReadonlyMap<number, readonly string[]>): Promise<Record<string, string>> => {
    const directory = await StateDirectory.acquire({ applicationId: 'app', stateDir, stores });
    const found = await contents(directory);
    await directory.release();
    return found;
  };

  it('finds state by its stores, also when two change places', async () => {
    const stateDir = await directories.make();
    await use(stateDir, new Map([[0, ['a']], [1, ['b', 'c']], [3, ['gone']]])); // prettier-ignore
    await folders(stateDir, { '0_0': 'a0', '0_1': 'a1', '1_0': 'bc0', '3_0': 'gone' });
    const swapped = new Map([[0, ['c', 'new']], [1, ['a']], [2, ['other']]]); // prettier-ignore
    expect(await use(stateDir, swapped)).toEqual({ '0_0': 'bc0', '1_0': 'a0', '1_1': 'a1', '3_0': 'gone' });
    // Once is enough.
    expect(await use(stateDir, swapped)).toEqual({ '0_0': 'bc0', '1_0': 'a0', '1_1': 'a1', '3_0': 'gone' });
  });

  it('gives a number up to who has it now', async () => {
    const stateDir = await directories.make();
    await use(stateDir, new Map([[0, ['a']], [1, ['gone']]])); // prettier-ignore
    await folders(stateDir, { '0_0': 'a0', '1_0': 'gone', '1_1': 'gone too' });
    expect(await use(stateDir, new Map([[0, ['new']], [1, ['a']]]))).toEqual({ '1_0': 'a0', '1_1': 'gone too' }); // prettier-ignore
  });

  it('leaves folders alone when it does not know what they are, or is not asked', async () => {
    const stateDir = await directories.make();
    await use(stateDir);
    await folders(stateDir, { '0_0': 'a0' });
    expect(await use(stateDir, new Map([[1, ['a']]]))).toEqual({ '0_0': 'a0' });
    expect(await use(stateDir)).toEqual({ '0_0': 'a0' });
  });
});
