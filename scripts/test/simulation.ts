import { runCommand } from './command.js';
import type { Counts } from './counts.js';

/**
 * Schedules of faults in memory, far more of them than the unit tests run, of every variant: the first seeds, the same in each run. All count as one test. Their time is virtual, so
 * that they can run beside something whose time is not.
 */
export async function runSimulation(): Promise<Counts> {
  const { code } = await runCommand(process.execPath, ['--import', 'tsx', 'scripts/simulate.ts', '--seeds', '5100'], { isBeside: true });
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
