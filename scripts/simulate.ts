/**
 * `npm run simulate -- [--seeds N] [--from S] [--seed S [--only a3,f4]] [--job everything|joins|async] [--standbys] [--releases] [--protocol classic|streams] [--processes P]`: random fault schedules against the
 * in-memory cluster. Without `--job`, `--standbys`, `--releases` and `--protocol` each seed has a variant of its own. A failing seed is named, shrunk to the parts that it takes, and can be run again alone, exactly as it was.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { drawVariant, plainVariant, type Variant } from '../test/simulation/variant.js';
import { runMain } from './run-main.js';
import { runSeeds } from './simulation/pool.js';

/** Failing seeds that are shrunk. */
const shrunkSeeds = 3;
const jobs = ['everything', 'joins', 'async'] as const satisfies readonly Variant['job'][];

const protocols = ['classic', 'streams'] as const satisfies readonly Variant['protocol'][];

interface Options {
  readonly seeds: number;
  readonly from: number;
  readonly seed: number | null;
  readonly only: readonly string[] | null;
  readonly processes: number;
  readonly variantOf: (seed: number) => Variant;
}

await runMain(async () => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options !== 'string') {
    if (options.seed === null) return runMany(options);
    const { tellRun } = await import('./simulation/one-seed.js');
    return (await tellRun({ seed: options.seed, options: options.variantOf(options.seed) }, options.only)) ? 0 : 1;
  }
  console.error(
    `${options}\nUsage: npm run simulate -- [--seeds N] [--from S] [--seed S [--only a3,f4]] [--job ${jobs.join('|')}] [--standbys] [--releases] [--protocol classic|streams] [--processes P]`,
  );
  return 1;
});

async function runMany({ seeds, from, processes, variantOf }: Options): Promise<number> {
  const totals = { schedules: 0, crashes: 0, actions: 0, records: 0, virtualMs: 0, steps: 0 };
  const failed: number[] = [];
  const startedAt = performance.now();
  // What was run until then is told all the same.
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
  await runSeeds({ from, count: seeds }, variantOf, processes, interruption.signal, (result) => {
    totals.schedules++;
    totals.crashes += result.crashes;
    totals.actions += result.actions;
    totals.records += result.records;
    totals.virtualMs += result.virtualMs;
    totals.steps += result.steps;
    if (result.faults.length === 0) return;
    failed.push(result.seed);
    console.log(`seed ${result.seed} failed: ${result.faults.slice(0, 3).join('\n  ')}`);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${totals.schedules} schedules, ${totals.actions} faults (${totals.crashes} crashes), ${totals.records} records in, ` +
      `${Math.round(totals.virtualMs / 1000)} s of virtual time, ${totals.steps} steps in ${seconds.toFixed(1)} s ` +
      `(${(totals.schedules / seconds).toFixed(1)} a second): ${failed.length} failed`,
  );
  if (interruption.signal.aborted) return 1;
  if (failed.length === 0) return 0;
  const { tellShortest } = await import('./simulation/one-seed.js');
  for (const seed of failed.slice(0, shrunkSeeds)) await tellShortest({ seed, options: variantOf(seed) });
  return 1;
}

function optionsOf(args: string[]): Options | string {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    ...{ seeds: text, from: text, seed: text, only: text, job: text, protocol: text, processes: text },
    ...{ standbys: flag, releases: flag },
  } as const;
  let values;
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
  for (const name of ['seeds', 'from', 'seed', 'processes'] as const) {
    const value = values[name];
    if (value !== undefined && !/^[1-9]\d*$/.test(value)) return `--${name} is a whole number above 0, not ${value}`;
  }
  const { seeds = '1000', from = '1', seed, only, processes = String(availableParallelism()), standbys = false, releases = false } = values;
  const isNamed = [values.job, values.protocol].some((value) => value !== undefined) || standbys || releases;
  const job = jobs.find((name) => name === (values.job ?? plainVariant.job));
  if (job === undefined) return `--job is ${jobs.join(', ')}, not ${values.job}`;
  const protocol = protocols.find((name) => name === (values.protocol ?? plainVariant.protocol));
  if (protocol === undefined) return `--protocol is ${protocols.join(' or ')}, not ${values.protocol}`;
  if (releases && protocol !== 'classic') return '--releases goes with the protocol classic only';
  if (releases && job !== 'everything') return '--releases goes with the job everything only';
  if (only !== undefined && seed === undefined) return '--only goes with --seed';
  return {
    seeds: Number(seeds),
    from: Number(from),
    seed: seed === undefined ? null : Number(seed),
    only: only === undefined ? null : only.split(','),
    processes: Number(processes),
    variantOf: isNamed ? () => ({ job, standbys, releases, protocol }) : drawVariant,
  };
}
