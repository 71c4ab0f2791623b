import { runCommand } from './command.js';
import type { Counts } from './counts.js';

/** The same in each run. */
const schedule = ['--seed', '1', '--minutes', '3', '--tries', '0'];

/** The fault lab: one schedule, which counts as one test. */
export async function runChaos(): Promise<Counts> {
  const { code } = await runCommand(process.execPath, ['--import', 'tsx', 'scripts/chaos.ts', ...schedule]);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
