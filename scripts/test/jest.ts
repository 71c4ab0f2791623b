import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../stack/cache.js';
import { runCommand } from './command.js';
import type { Counts } from './counts.js';
import { oneFailed } from './counts.js';

export interface JestRun {
  readonly project: 'unit' | 'integration';
  /** The Node binary to run with. Default: this one. */
  readonly node?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Passed on to jest: paths, `-t`, … */
  readonly args?: readonly string[];
}

/** Runs one of the projects of jest.config.mjs and counts its tests; a file that could not run at all counts as one failed test. */
export async function runJest({ project, node = process.execPath, env = {}, args = [] }: JestRun): Promise<Counts> {
  // In the cache, so that an interrupted run leaves nothing elsewhere.
  await mkdir(cacheDirectory, { recursive: true });
  const folder = await mkdtemp(join(cacheDirectory, 'jest-result-'));
  const resultFile = join(folder, 'result.json');
  try {
    await runCommand(
      node,
      [
        ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
        ...['--selectProjects', project, '--json', '--outputFile', resultFile],
        // Integration tests share one broker and two cores with it.
        ...(project === 'integration' ? ['--runInBand'] : ['--maxWorkers=2']),
        ...args,
      ],
      { env, discardOutput: true },
    );
    return await countTests(resultFile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** By what jest says, not by its exit code: an app under test that ends with an error sets that of the process. */
async function countTests(resultFile: string): Promise<Counts> {
  let result: { success: boolean; numPassedTests: number; numFailedTests: number; numRuntimeErrorTestSuites: number };
  try {
    result = JSON.parse(await readFile(resultFile, 'utf8')) as typeof result;
  } catch {
    return oneFailed;
  }
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return { passed: result.numPassedTests, failed: result.success ? failed : Math.max(failed, 1) };
}
