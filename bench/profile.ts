/** `node scripts/run.mjs bench/profile.ts [--flame] FILE…`: where the time of CPU profiles went, by stage and by function, and as pictures. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { runMain } from '../scripts/run-main.js';
import { forEachSample, type CpuProfile, type Frame } from './profile/cpu-profile.js';
import { FlameGraph } from './profile/flame-graph.js';
import { notOfTheApp, stageOf } from './profile/stages.js';

const functionsShown = 40;

const usage = `Usage: node scripts/run.mjs bench/profile.ts [--flame] FILE.cpuprofile…

  --flame   draws a flame graph beside each file, FILE.svg, without start-up and what the benchmark does`;

async function main(args: string[]): Promise<number> {
  const { positionals: files, values } = parseArgs({
    args,
    options: { flame: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (files.length === 0) {
    console.error(usage);
    return 2;
  }
  for (const file of files) {
    const profile = JSON.parse(await readFile(file, 'utf8')) as CpuProfile;
    const stages = new Map<string, number>();
    const functions = new Map<string, number>();
    const flames = new FlameGraph();
    forEachSample(profile, (stack, ms) => {
      const stage = stageOf(stack);
      add(stages, stage, ms);
      add(functions, placeOf(stack[0]), ms);
      if (!notOfTheApp.has(stage)) flames.add(stack, ms);
    });
    if (values.flame) await writeFile(`${file}.svg`, flames.draw(basename(file, '.cpuprofile')));
    console.log(`\n${file}`);
    print(stages, stages.size);
    console.log('by function, its own time:');
    print(functions, functionsShown);
  }
  return 0;
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

function placeOf(frame: Frame | undefined): string {
  if (frame === undefined) return '(unknown)';
  return frame.url === '' ? frame.name : `${frame.name} ${basename(frame.url)}:${frame.line}`;
}

function print(sums: ReadonlyMap<string, number>, count: number): void {
  const total = [...sums.values()].reduce((sum, ms) => sum + ms, 0);
  for (const [name, ms] of [...sums].sort((a, b) => b[1] - a[1]).slice(0, count)) {
    console.log(`${ms.toFixed(0).padStart(8)} ms ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${name}`);
  }
}

await runMain(() => main(process.argv.slice(2)));
