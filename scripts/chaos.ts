/**
 * `npm run chaos -- [--seed N] [--minutes M] [--brokers 1|3] [--rate R] [--only 3,7] [--tries T]`: the fault lab. A random schedule of faults against three instances of
 * a job, on a cluster of its own; what they have written and stored is compared with the exact answer. A schedule that fails is shrunk, `--tries` runs long at most.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawFaults } from '../integration-tests/chaos/draw-faults.js';
import type { PlannedFault } from '../integration-tests/chaos/fault.js';
import { instances, runFaults, sessionTimeout, type FaultReport } from '../integration-tests/chaos/fault-run.js';
import { sumOf } from '../integration-tests/exactly-once/difference.js';
import { shrink } from '../integration-tests/faults/shrink.js';
import { runMain } from './run-main.js';
import { cacheDirectory } from './stack/cache.js';
import type { BrokerCount } from './stack/settings.js';

interface Options {
  readonly seed: number;
  readonly minutes: number;
  readonly brokers: BrokerCount;
  readonly rate: number;
  readonly only: readonly number[] | null;
  readonly tries: number;
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)));

await runMain(async () => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === 'string') {
    console.error(`${options}\nUsage: npm run chaos -- [--seed N] [--minutes M] [--brokers 1|3] [--rate R] [--only 3,7] [--tries T]`);
    return 1;
  }
  const { seed, minutes, brokers, only } = options;
  const drawn = drawFaults({ seed, duration: minutes * 60_000, brokers, instances, sessionTimeout });
  const unknown = (only ?? []).filter((number) => drawn[number - 1] === undefined);
  if (unknown.length > 0) {
    console.error(`Seed ${seed} has ${drawn.length} faults in ${minutes} minutes, none with the number ${unknown.join(', ')}`);
    return 1;
  }
  const faults = only === null ? drawn : drawn.filter(({ number }) => only.includes(number));
  console.log(`Seed ${seed}: ${faults.length} faults in ${minutes} minutes, ${brokers === 1 ? 'one broker' : `${brokers} brokers`}`);
  try {
    const report = await run(faults, options, (line) => console.log(line));
    await tell(report, options);
    if (isClean(report)) return 0;
    await tellShortest(faults, options);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    console.error(String(interruption.signal.reason));
  }
  return 1;
});

async function run(faults: readonly PlannedFault[], options: Options, onEvent: (line: string) => void): Promise<FaultReport> {
  const { seed, minutes, brokers, rate } = options;
  const report = await runFaults(faults, {
    seed,
    brokers,
    rate,
    duration: minutes * 60_000,
    signal: interruption.signal,
    onEvent,
  });
  console.log(lineOf(report));
  return report;
}

function lineOf({ faults, records, differences, stalls }: FaultReport): string {
  const { lost, doubled, different } = sumOf(differences);
  const longest = ((stalls[0]?.ms ?? 0) / 1000).toFixed(1);
  return `${faults} faults · ${records} records in · ${lost} lost · ${doubled} doubled · ${different} different · longest stall ${longest} s`;
}

function isClean({ differences, problems }: FaultReport): boolean {
  return differences.length === 0 && problems.length === 0;
}

async function tell({ differences, problems, stalls, log }: FaultReport, { seed }: Options): Promise<void> {
  for (const text of [...problems, ...differences.map((difference) => difference.text)].slice(0, 20)) console.log(`  ${text}`);
  for (const { partition, from, ms } of stalls.filter((stall) => stall.ms > 30_000).slice(0, 6))
    console.log(`  partition ${partition} had no output for ${(ms / 1000).toFixed(1)} s from ${(from / 1000).toFixed(1)} s on`);
  const folder = join(cacheDirectory, 'chaos');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `seed-${seed}.log`);
  await writeFile(file, log.join('\n'));
  console.log(`What the instances logged: ${file}`);
}

/** Real processes fail by chance as well as by their schedule: what passes once more may be to blame all the same. */
async function tellShortest(faults: readonly PlannedFault[], options: Options): Promise<void> {
  const { tries, seed, minutes, brokers, rate } = options;
  if (tries > 0) console.log(`Looking for a shorter schedule that fails, ${tries} runs at most`);
  const fails = async (some: readonly PlannedFault[]): Promise<boolean> => {
    console.log(
      `without ${faults
        .filter((fault) => !some.includes(fault))
        .map(({ number }) => number)
        .join(',')}:`,
    );
    const last = some.at(-1)?.at ?? 0;
    // Nothing more is to come after the last fault than what it leads to.
    return !isClean(await run(some, { ...options, minutes: Math.min(minutes, (last + 20_000) / 60_000) }, () => undefined));
  };
  const shortest = await shrink(faults, fails, tries);
  const only = shortest.map(({ number }) => number).join(',');
  console.log(`Again: npm run chaos -- --seed ${seed} --minutes ${minutes} --brokers ${brokers} --rate ${rate} --only ${only}`);
}

function optionsOf(args: string[]): Options | string {
  let values: Readonly<Record<string, string | undefined>>;
  try {
    const text = { type: 'string' } as const;
    ({ values } = parseArgs({ args, options: { seed: text, minutes: text, brokers: text, rate: text, only: text, tries: text } }));
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
  const { seed = String(Math.floor(Math.random() * 1_000_000)), minutes = '3', brokers = '1', rate = '150', only, tries = '6' } = values;
  if (!/^\d+$/.test(seed)) return `--seed is a whole number, not ${seed}`;
  if (!(Number(minutes) > 0)) return `--minutes is a number above 0, not ${minutes}`;
  if (brokers !== '1' && brokers !== '3') return `--brokers is 1 or 3, not ${brokers}`;
  if (!(Number(rate) >= 1 && Number(rate) <= 400)) return `--rate is 1 to 400 records a second, not ${rate}`;
  if (!/^\d+$/.test(tries)) return `--tries is a whole number, not ${tries}`;
  if (only !== undefined && !/^\d+(,\d+)*$/.test(only)) return `--only lists numbers of faults, as 3,7, not ${only}`;
  return {
    seed: Number(seed),
    minutes: Number(minutes),
    brokers: brokers === '1' ? 1 : 3,
    rate: Number(rate),
    only: only === undefined ? null : only.split(',').map(Number),
    tries: Number(tries),
  };
}
