import { runCommand } from './command.js';
import type { Counts } from './counts.js';
import { sum } from './counts.js';

/** Seeds of each job: the first ones, the same in each run. */
const shares: readonly (readonly string[])[] = [
  ['--seeds', '3600'],
  ['--seeds', '600', '--standbys'],
  ['--seeds', '500', '--job', 'joins'],
  ['--seeds', '400', '--job', 'async'],
];

/** Schedules of faults in memory, far more of them than the unit tests run; each share counts as one test. */
export async function runSimulation(): Promise<Counts> {
  const counts: Counts[] = [];
  for (const share of shares) {
    const { code } = await runCommand(process.execPath, ['--import', 'tsx', 'scripts/simulate.ts', ...share]);
    counts.push(code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  }
  return sum(counts);
}
