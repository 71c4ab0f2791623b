import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Runs `npm ci` in `root` unless node_modules holds just what package-lock.json asks for. A node_modules that is a link is read, and never written to. */
export function installIfStale(root) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Node 20.19 or newer is needed; this is ${process.version}.`);
    process.exit(1);
  }
  if (isFresh(root)) return;
  removeLink(join(root, 'node_modules'));
  console.error('Installing the npm packages of this repository');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
}

/** npm would empty the folder behind the link, which belongs to another tree. */
function removeLink(path) {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink) unlinkSync(path);
}

/** npm leaves a copy of the lock file of what it installed; packages for other platforms are missing in it. */
function isFresh(root) {
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'));
  const wanted = lockedPackages(join(root, 'package-lock.json'));
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([path, { version, optional, peer }]) => {
    const found = installed[path];
    return path === '' || (found ? found.version === version : optional === true || peer === true);
  });
}

function lockedPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
