/**
 * The worker and all that it runs as plain JavaScript in a directory of its own.
 *
 * Under tsx each process would compile the sources again, and each function that is made would be given its name by a call, a fifth of a schedule's time. Modules
 * stay the files they are, so what runs is what `npm run build` makes of them.
 */
import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { transformFile, type Options } from '@swc/core';

const root = resolve(import.meta.dirname, '../..');
/** What the worker may import from. */
const folders = ['src', 'test/simulation', 'integration-tests/exactly-once', 'integration-tests/faults', 'scripts/simulation'];
/** As tsconfig.json's paths. */
const exports = { '.': './src/index.js', './testing': './src/testing/index.js', './query-server': './src/query-server/index.js' };
const swc: Options = { swcrc: false, sourceMaps: 'inline', jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } };

/** The worker's file. The directory is removed when this process ends. */
export async function compileWorker(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-simulation-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'), 'dir');
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'millrace', type: 'module', exports }));
  const found = await Promise.all(folders.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true })));
  await Promise.all(
    found.flat().map(async (entry) => {
      if (!entry.isFile()) return;
      const from = join(entry.parentPath, entry.name);
      const to = join(directory, from.slice(root.length));
      await mkdir(dirname(to), { recursive: true });
      if (!entry.name.endsWith('.ts')) await cp(from, to);
      else await writeFile(to.replace(/\.ts$/, '.js'), (await transformFile(from, swc)).code);
    }),
  );
  return join(directory, 'scripts/simulation/worker.js');
}
