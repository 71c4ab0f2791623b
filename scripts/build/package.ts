import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Check } from '../check/check.js';
import { commandCheck } from '../check/command.js';

const run = promisify(execFile);

interface PackedFile {
  readonly path: string;
}

const belongs = /^(dist\/.*\.(js|d\.ts|html|css|svg)|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;

/** Packs the package as npm would publish it and hands checks of the tarball to `use`; the tarball is gone afterwards. */
export async function withPackageChecks<T>(use: (checks: readonly Check[]) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-pack-'));
  try {
    const output = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], { encoding: 'utf8' });
    const [packed] = JSON.parse(output) as { filename: string; files: PackedFile[] }[];
    if (!packed) throw new Error('npm pack packed nothing');
    const tarball = join(folder, packed.filename);
    return await use([
      contentsCheck(packed.files),
      commandCheck('publint', 'publint', ['run', tarball, '--strict']),
      importCheck(tarball, folder),
      commandCheck('are the types wrong', 'attw', [tarball, '--profile', 'esm-only', '--no-color']),
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The package holds only what a user needs, and all of it. */
function contentsCheck(files: readonly PackedFile[]): Check {
  return {
    name: 'package contents',
    run() {
      const paths = files.map(({ path }) => path);
      const faults = paths.filter((path) => !belongs.test(path)).map((path) => `${path} does not belong into the package`);
      for (const needed of ['dist/index.js', 'dist/index.d.ts', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
        if (!paths.includes(needed)) faults.push(`${needed} is missing in the package`);
      }
      return Promise.resolve(faults.length > 0 ? faults.join('\n') : null);
    },
  };
}

/** A project that installs the package, without its optional peers, can import it. */
function importCheck(tarball: string, folder: string): Check {
  return {
    name: 'install and import',
    async run() {
      await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--prefer-offline', tarball]);
      const script = `await import('millrace'); await import('millrace/testing'); await import('millrace/query-server');`;
      await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder });
      return null;
    },
  };
}
