import { existsSync } from 'node:fs';
import { runCommand } from './command.js';
import type { Counts } from './counts.js';
import { oneFailed } from './counts.js';

const entry = 'conformance/run.ts';

/** Runs the conformance cases; their runner ends with a line `N passed, N failed`. */
export async function runConformance(env: Readonly<Record<string, string>>): Promise<Counts> {
  if (!existsSync(entry)) {
    console.error(`${entry} is missing`);
    return oneFailed;
  }
  const { code, stdout } = await runCommand(process.execPath, ['--import', 'tsx', entry], { env });
  const line = [...stdout.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1);
  if (!line) return oneFailed;
  const failed = Number(line[2]);
  return { passed: Number(line[1]), failed: code === 0 ? failed : Math.max(failed, 1) };
}
