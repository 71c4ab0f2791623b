import { rm } from 'node:fs/promises';
import type { Optimization } from '../../src/index.js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { chaosSeed, Random } from '../faults/random.js';
import { until } from '../faults/until.js';
import { DslJob } from './dsl-job.js';
import { DslRun } from './dsl-run.js';
import { families } from './all-families.js';
import { allOptimizations } from './dsl-topology.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** One store of each kind that holds something between the phases. */
const stores = [
  'pairs-outer-this-join-store',
  'session-updates',
  'sliding-updates',
  'suppress-finals-store',
  'suppress-limited-store',
  'versions',
];

async function begin(name: string, optimizations: readonly Optimization[]): Promise<DslRun> {
  const run = await DslRun.begin(name, families, optimizations);
  ends.push(() => run.end());
  return run;
}

describe('join windows, sessions, suppressed rows and versions outlive the instance that made them', () => {
  it.each([
    ['kept', 'without', []],
    ['deleted', 'with', allOptimizations],
  ] as const)(
    'ended in good order before each phase, with its state directory %s, %s optimisations',
    async (directory, _with, optimizations) => {
      const run = await begin(`restart-${directory}`, optimizations);
      const failures: unknown[] = [];
      for (let phase = 0; phase < run.phases; phase++) {
        const app = await run.start('only');
        app.on('error', (error) => failures.push(error));
        await run.write(phase);
        await run.settled(phase);
        await app.close();
        if (directory === 'deleted') await rm(run.stateDir('only'), { recursive: true });
      }
      expect(failures).toEqual([]);
      expect(fromSourceTopics(run) > 0).toBe(directory === 'deleted');
      const restored = restoredRecords(run);
      for (const store of stores) expect([store, (restored.get(store) ?? 0) > 0]).toEqual([store, directory === 'deleted']);
    },
  );

  const seed = chaosSeed();
  it(`killed twice in the midst of each phase, beside another, with all optimisations (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await begin('killed', allOptimizations);
    const [job, other] = ['killed', 'other'].map((directory) => {
      const config = { ...run.quick, applicationId: run.scenario.id, stateDir: run.stateDir(directory) };
      const started = new DslJob({ ...config, bootstrapServers: (process.env['KAFKA_BROKERS'] ?? '').split(',') });
      ends.push(() => started.kill());
      return started;
    }) as [DslJob, DslJob];
    await Promise.all([job.start(), other.start()]);
    for (let phase = 0; phase < run.phases; phase++) {
      const before = await run.outputs();
      await run.write(phase, 'first half');
      await until(
        'results begin to come',
        async () => (await run.outputs()) > before,
        30_000,
        () => job.story(),
      );
      await delay(random.between(0, 150));
      await job.kill();
      await run.write(phase, 'second half');
      await job.start();
      await delay(random.between(0, 300));
      await job.kill();
      await job.start();
      await run.settled(phase, () => job.story());
    }
    await Promise.all([job.close(), other.close()]);
    expect([...job.errors, ...other.errors]).toEqual([]);
  });
});

/** From the log: records that stores were restored from in topics that the job reads. */
function fromSourceTopics(run: DslRun): number {
  return run.scenario.logged
    .filter(({ message }) => message.startsWith('restored store'))
    .map(({ fields }) => fields as { readonly topic: string; readonly recordsRestored: number })
    .filter(({ topic }) => !topic.endsWith('-changelog'))
    .reduce((sum, { recordsRestored }) => sum + recordsRestored, 0);
}

/** From the log: changelog records that each store was restored from, over all starts. */
function restoredRecords(run: DslRun): Map<string, number> {
  const restored = new Map<string, number>();
  for (const { message, fields } of run.scenario.logged) {
    if (!message.startsWith('restored store')) continue;
    const { store, recordsRestored } = fields as { readonly store: string; readonly recordsRestored: number };
    restored.set(store, (restored.get(store) ?? 0) + recordsRestored);
  }
  return restored;
}
