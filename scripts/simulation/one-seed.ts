/** One schedule in this process: told step by step, or shrunk to what it takes to fail. Not loaded while the worker processes have no failure to report. */
import { drawPlan } from '../../test/simulation/plan.js';
import { complement, partsOf, shrinkParts } from '../../test/simulation/plan-parts.js';
import { runSchedule } from '../../test/simulation/schedule.js';
import { variantArguments } from '../../test/simulation/variant.js';
import type { Task } from './pool.js';

/** Runs that shrinking a schedule may take. */
const tries = 200;

/** True when all is well. `only`: the parts that are kept. */
export async function tellRun({ seed, options }: Task, only: readonly string[] | null): Promise<boolean> {
  const without = only === null ? undefined : leftAway({ seed, options }, only);
  const { log, faults, ...rest } = await runSchedule(seed, { ...options, keepLog: true, without });
  for (const line of log) console.log(line);
  console.log(rest);
  for (const fault of faults) console.log(fault);
  return faults.length === 0;
}

export async function tellShortest({ seed, options }: Task): Promise<void> {
  const parts = partsOfTask({ seed, options });
  const fails = async (without: ReadonlySet<string>): Promise<boolean> =>
    (await runSchedule(seed, { ...options, without })).faults.length > 0;
  const kept = await shrinkParts(parts, fails, tries);
  const { faults } = await runSchedule(seed, { ...options, without: complement(parts, kept) });
  console.log(`seed ${seed}, ${kept.length} of ${parts.length} parts: ${faults[0] ?? 'passes'}`);
  console.log(`Again: npm run simulate -- --seed ${seed} ${variantArguments(options)} --only ${kept.join(',')}`);
}

function leftAway(task: Task, only: readonly string[]): ReadonlySet<string> {
  const parts = partsOfTask(task);
  const unknown = only.filter((part) => !parts.includes(part));
  if (unknown.length > 0) throw new Error(`seed ${task.seed} has no part ${unknown.join(', ')}; it has ${parts.join(', ')}`);
  return complement(parts, only);
}

function partsOfTask({ seed, options }: Task): readonly string[] {
  return partsOf(drawPlan(seed, { ...options, plain: false }));
}
