import { availableParallelism } from 'node:os';
import pc from 'picocolors';
import type { Counts } from '../test/counts.js';
import type { Check } from './check.js';
import { commandCheck } from './command.js';
import { composeCheck } from './compose.js';
import { docsCheck } from './docs.js';
import { fileLengthsCheck } from './file-lengths.js';
import { fileNamesCheck } from './file-names.js';

/** All that can be told without a broker and without running tests; longest first, so that none is left to run alone. */
export const sourceChecks: readonly Check[] = [
  commandCheck('types and lint', 'tsx', ['scripts/check/types-and-lint.ts'], true),
  commandCheck('format', 'prettier', ['--check', '--log-level', 'warn', '--cache', '--cache-strategy', 'content', '.']),
  commandCheck('import arrows', 'depcruise', ['src', '--config', 'dependency-cruiser.config.mjs']),
  commandCheck('docstrings', 'typedoc', ['--emit', 'none', '--treatWarningsAsErrors']),
  composeCheck,
  docsCheck,
  fileNamesCheck,
  fileLengthsCheck,
];

/** Runs the checks, a few at a time, prints each result, and counts them. */
export async function runChecks(checks: readonly Check[]): Promise<Counts> {
  const waiting = [...checks];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const start = Date.now();
      const fault = await check.run().catch((error: unknown) => `${error instanceof Error ? error.stack : String(error)}`);
      const seconds = ((Date.now() - start) / 1000).toFixed(1);
      if (fault !== null) failed++;
      console.log(
        `${fault === null ? pc.green('ok  ') : pc.red('FAIL')} ${check.name} ${pc.dim(`${seconds} s`)}${fault === null ? '' : `\n${fault}\n`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, worker));
  return { passed: checks.length - failed, failed };
}
