import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../stack/cache.js';
import { runCommand } from './command.js';
import type { Counts } from './counts.js';

/**
 * Rows of every kind that the harness knows, but those that wait for a session timeout or send at a steady pace, and those whose result hangs on what
 * another library commits when.
 */
const rows = [
  'produce',
  'fetch',
  'json-map-eos',
  'avro-count-eos',
  'tumbling-count-eos',
  'session-count-eos',
  'repartition-count-alos',
  'stream-table-join-eos',
  'stream-stream-join-eos',
  'map-eos-kafkajs',
  'startup',
  'restore',
];

/** Small rounds, so that the benchmarks never rot: each row must give a result, and its output must be right. What they measure here says nothing. */
export async function runBenchSmoke(env: Readonly<Record<string, string>>): Promise<Counts> {
  await mkdir(cacheDirectory, { recursive: true });
  const folder = await mkdtemp(join(cacheDirectory, 'bench-smoke-'));
  try {
    const json = join(folder, 'result.json');
    const options = ['--records', '20000', '--rounds', '1', '--json', json];
    await runCommand(process.execPath, ['--import', 'tsx', 'bench/run.ts', ...rows, ...options], { env, discardOutput: true });
    const result = JSON.parse(await readFile(json, 'utf8')) as { rows: { row: string }[] };
    const measured = new Set(result.rows.map(({ row }) => row));
    const passed = rows.filter((row) => measured.has(row)).length;
    return { passed, failed: rows.length - passed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
