import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { AppMetrics, UncaughtErrorAnswer } from '../../src/index.js';
import { stateDifferences } from '../exactly-once/job-state.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun, type JobRunOptions } from '../faults/job-run.js';

const partitions = 4;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, options: Partial<JobRunOptions> & { readonly answer?: UncaughtErrorAnswer } = {}): Promise<JobRun> {
  const file = fileURLToPath(new URL('job.ts', import.meta.url));
  const { answer, config, ...more } = options;
  // Threads read what the process has compiled.
  const env = { TSX_DISABLE_CACHE: '' };
  const run = await JobRun.create(name, { partitions, file, env, setup: { answer }, config: { threads: 2, ...config }, ...more });
  runs.push(run);
  return run;
}

const threadsOf = ({ threads }: AppMetrics): string[] => Object.keys(threads);
const tasksOf = (metrics: AppMetrics, thread: string): readonly string[] => metrics.threads[thread]?.group.ownedTasks ?? [];

/** All tasks run, spread over so many threads. */
async function spreadOver(instance: JobProcess, threads: number): Promise<AppMetrics> {
  let metrics = await instance.measure();
  await instance.untilSo(`tasks are spread over ${threads} thread(s)`, async () => {
    metrics = await instance.measure();
    const active = Object.values(metrics.tasks).filter((task) => task.active).length;
    const counts = threadsOf(metrics).map((thread) => tasksOf(metrics, thread).length);
    return (
      metrics.state === 'running' &&
      active === 2 * partitions &&
      counts.length === threads &&
      Math.max(...counts) - Math.min(...counts) <= 1
    );
  });
  return metrics;
}

describe('an app of two stream threads', () => {
  it('shares its tasks, moves them as threads come, go and die, and gives what the model says', async () => {
    const run = await begin('threads', { answer: 'replaceThread' });
    const only = run.instance();
    run.input.start(400);
    only.start();
    await spreadOver(only, 2);
    only.send('addThread');
    const three = await spreadOver(only, 3);
    expect(threadsOf(three)).toEqual(['0', '1', '2']);
    only.send('exit 1');
    await only.untilSo('the crash is told', () => only.errors.length === 1);
    expect(only.errors[0]).toMatchObject({ code: 'MILL_THREAD_CRASHED' });
    await spreadOver(only, 3);
    only.send('removeThread');
    await spreadOver(only, 2);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const folder = await run.liveFolder();
    await only.close();
    const { recordsProcessed } = Object.values(only.metrics!.tasks).reduce((a, b) => ({
      ...a,
      recordsProcessed: a.recordsProcessed + b.recordsProcessed,
    }));
    expect(recordsProcessed).toBeGreaterThan(0);
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(only.errors).toHaveLength(1);
  });
});
