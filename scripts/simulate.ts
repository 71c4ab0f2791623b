/** `npm run simulate -- --seeds N [--from S] [--seed S] [--job everything|async]`: random fault schedules against the in-memory cluster; a failing seed is named and can be run again alone. */
import { parseArgs } from 'node:util';
import { runSchedule, type ScheduleJob } from '../test/simulation/schedule.js';
import { runMain } from './run-main.js';

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      job: { type: 'string' },
    },
  });
  const job: ScheduleJob = values.job === 'async' ? 'async' : 'everything';
  if (values.seed !== undefined) {
    const { log, faults, ...rest } = await runSchedule(Number(values.seed), { keepLog: true, job });
    for (const line of log) console.log(line);
    console.log(rest);
    for (const fault of faults) console.log(fault);
    return faults.length > 0 ? 1 : 0;
  }
  const [from, seeds] = [Number(values.from), Number(values.seeds)];
  const totals = { schedules: 0, failed: 0, crashes: 0, actions: 0, records: 0, virtualMs: 0, steps: 0 };
  const startedAt = performance.now();
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await runSchedule(seed, { job });
    totals.schedules++;
    totals.crashes += result.crashes;
    totals.actions += result.actions;
    totals.records += result.records;
    totals.virtualMs += result.virtualMs;
    totals.steps += result.steps;
    if (result.faults.length === 0) continue;
    totals.failed++;
    console.log(`seed ${seed} failed: ${result.faults.slice(0, 3).join('\n  ')}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${totals.schedules} schedules, ${totals.actions} faults (${totals.crashes} crashes), ${totals.records} records in, ` +
      `${Math.round(totals.virtualMs / 1000)} s of virtual time, ${totals.steps} steps in ${seconds.toFixed(1)} s ` +
      `(${(totals.schedules / seconds).toFixed(1)} a second): ${totals.failed} failed`,
  );
  return totals.failed > 0 ? 1 : 0;
});
