import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../../../scripts/install/dependencies.mjs', import.meta.url));

let folder: string;
let root: string;
let theirs: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-install-'));
  root = join(folder, 'root');
  theirs = join(folder, 'theirs');
  for (const path of [root, theirs, join(folder, 'bin')]) mkdirSync(path);
  // Stands in for npm: as `npm ci` does, it empties node_modules where there is one.
  writeFileSync(
    join(folder, 'bin/npm'),
    '#!/bin/sh\nmkdir -p node_modules && rm -rf node_modules/* && echo "$@" > node_modules/installed\n',
    {
      mode: 0o755,
    },
  );
  lock(join(root, 'package-lock.json'), '2.0.0');
  writeFileSync(join(theirs, 'package'), '');
  symlinkSync(theirs, join(root, 'node_modules'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function lock(path: string, version: string): void {
  writeFileSync(path, JSON.stringify({ packages: { '': {}, 'node_modules/a': { version } } }));
}

function install(): void {
  const code = `import { installIfStale } from ${JSON.stringify(pathToFileURL(script).href)}; installIfStale(${JSON.stringify(root)});`;
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` };
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { env, stdio: 'pipe' });
}

describe('installing what is missing', () => {
  it('leaves the packages behind a link alone, and installs into a folder of its own', () => {
    lock(join(theirs, '.package-lock.json'), '1.0.0');
    install();
    expect(existsSync(join(theirs, 'package'))).toBe(true);
    expect(existsSync(join(theirs, 'installed'))).toBe(false);
    expect(lstatSync(join(root, 'node_modules')).isSymbolicLink()).toBe(false);
    expect(readFileSync(join(root, 'node_modules/installed'), 'utf8')).toBe('ci --no-audit --no-fund\n');
  });

  it('replaces a link to nothing', () => {
    rmSync(theirs, { recursive: true });
    install();
    expect(existsSync(theirs)).toBe(false);
    expect(existsSync(join(root, 'node_modules/installed'))).toBe(true);
  });

  it('uses a link as it is when the packages behind it are those of the lock file', () => {
    lock(join(theirs, '.package-lock.json'), '2.0.0');
    install();
    expect(lstatSync(join(root, 'node_modules')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(theirs, 'installed'))).toBe(false);
  });
});
