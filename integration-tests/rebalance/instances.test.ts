import { afterEach, describe, expect, it } from '@jest/globals';
import type { AppMetrics } from '../../src/index.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';
import { until } from '../faults/until.js';

const partitions = 6;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

const activeTasks = ({ tasks }: AppMetrics): string[] => Object.keys(tasks).filter((id) => tasks[id]?.active);

async function owned(instance: JobProcess): Promise<string[]> {
  return activeTasks(await instance.measure());
}

/** Measures an instance again and again until `end`. */
async function watch(instance: JobProcess, end: () => Promise<boolean>): Promise<AppMetrics[]> {
  const seen = [await instance.measure()];
  await instance.untilSo('the rebalance is over', async () => {
    seen.push(await instance.measure());
    return end();
  });
  seen.push(await instance.measure());
  return seen;
}

/** Tasks that ran before and after: they must have run at every look in between, and got on with their work. */
function expectKeptTasksNeverStopped(seen: readonly AppMetrics[]): number {
  const [first, last] = [seen[0]!, seen[seen.length - 1]!];
  const kept = activeTasks(first).filter((id) => last.tasks[id]?.active);
  for (const metrics of seen) expect(activeTasks(metrics)).toEqual(expect.arrayContaining(kept));
  for (const id of kept) expect(last.tasks[id]!.recordsProcessed).toBeGreaterThan(first.tasks[id]!.recordsProcessed);
  expect(last.epochs?.failedEpochs).toBe(0);
  return kept.length;
}

describe('instances that come and go under load', () => {
  it('1 → 2 → 3 → 1: what does not move does not stop, what moves is committed first, outputs equal the model', async () => {
    const run = await JobRun.create('elastic', { partitions });
    runs.push(run);
    const [a, b, c] = [run.instance('a'), run.instance('b'), run.instance('c')];
    run.input.start(400);
    a.start();
    await a.untilState('running');
    expect(await owned(a)).toHaveLength(2 * partitions);

    b.start();
    const toTwo = await watch(a, async () => b.state === 'running' && (await owned(b)).length === partitions);
    expect(expectKeptTasksNeverStopped(toTwo)).toBe(partitions);

    c.start();
    const toThree = await watch(a, async () => c.state === 'running' && (await owned(c)).length === (2 * partitions) / 3);
    expect(expectKeptTasksNeverStopped(toThree)).toBe((2 * partitions) / 3);

    const leaving = Promise.all([b.close(), c.close()]);
    const toOne = await watch(a, async () => (await owned(a)).length === 2 * partitions);
    await leaving;
    expect(expectKeptTasksNeverStopped(toOne)).toBe((2 * partitions) / 3);

    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await a.close();
    // Nothing was processed twice: each task was committed to its last record before it was given up.
    const processed = run.instances
      .flatMap(({ metrics }) => Object.values(metrics!.tasks))
      .reduce((sum, task) => sum + task.recordsProcessed, 0);
    expect(processed).toBe(2 * run.input.sent);
    expect(run.instances.map(({ metrics }) => metrics?.epochs?.failedEpochs)).toEqual([0, 0, 0]);
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('an instance that is killed comes back to its own tasks and state', async () => {
    const run = await JobRun.create('back-again', { partitions });
    runs.push(run);
    const [a, b] = [run.instance('a'), run.instance('b')];
    run.input.start(400);
    for (const instance of [a, b]) instance.start();
    await until('both have their share', async () => {
      if (a.state !== 'running' || b.state !== 'running') return false;
      return (await owned(a)).length === partitions && (await owned(b)).length === partitions;
    });
    const before = await owned(b);
    await b.kill();
    b.restored.length = 0;
    b.start();
    const seen = await watch(a, async () => b.state === 'running');
    expect(expectKeptTasksNeverStopped(seen)).toBe(partitions);
    expect((await owned(b)).sort()).toEqual(before.sort());
    expect(b.restored.map(({ whole }) => whole)).not.toContain(true);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [a, b]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
