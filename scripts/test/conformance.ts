import { existsSync } from 'node:fs';
import { findJavaTools, MissingToolsError } from '../stack/java.js';
import { runCommand } from './command.js';
import type { Counts } from './counts.js';
import { oneFailed } from './counts.js';

const entry = 'conformance/run.ts';

/** Random cases of a differential run; their seed is printed. */
const differentialRuns = 250;

/** Runs random cases of the whole vocabulary beside Kafka Streams; without Java (the stack may be Docker's) there is nothing to compare with. */
export async function runDifferential(env: Readonly<Record<string, string>>): Promise<Counts> {
  try {
    await findJavaTools();
  } catch (error) {
    if (!(error instanceof MissingToolsError)) throw error;
    console.log(`Left out: ${error.message.split('\n')[0]}`);
    return { passed: 0, failed: 0 };
  }
  return runConformance(env, ['--runs', String(differentialRuns)]);
}

/** Runs the conformance cases; their runner ends with a line `N passed, N failed`. */
export async function runConformance(env: Readonly<Record<string, string>>, options: readonly string[] = []): Promise<Counts> {
  if (!existsSync(entry)) {
    console.error(`${entry} is missing`);
    return oneFailed;
  }
  const { code, stdout } = await runCommand(process.execPath, ['--import', 'tsx', entry, ...options], { env });
  const line = [...stdout.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1);
  if (!line) return oneFailed;
  const failed = Number(line[2]);
  return { passed: Number(line[1]), failed: code === 0 ? failed : Math.max(failed, 1) };
}
