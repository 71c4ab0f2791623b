import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { AppMetrics, UncaughtErrorAnswer } from '../../src/index.js';
import { stateDifferences } from '../exactly-once/job-state.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun, type JobRunOptions } from '../faults/job-run.js';
import type { StoresAnswer } from './job-setup.js';

const partitions = 4;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(
  name: string,
  options: Partial<JobRunOptions> & { readonly answer?: UncaughtErrorAnswer; readonly addsThread?: boolean } = {},
): Promise<JobRun> {
  const file = fileURLToPath(new URL('job.ts', import.meta.url));
  const { answer, addsThread, config, ...more } = options;
  // Threads read what the process has compiled.
  const env = { TSX_DISABLE_CACHE: '' };
  const run = await JobRun.create(name, {
    partitions,
    file,
    env,
    setup: { answer, addsThread },
    config: { threads: 2, ...config },
    ...more,
  });
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

/** Queries see the stores of all threads as one instance's, at the state of the model. */
async function expectTheStores(run: JobRun, instance: JobProcess): Promise<void> {
  let answer: StoresAnswer | null = null;
  instance.onMessage = (message) => {
    const told = message as { readonly kind: string; readonly answer?: StoresAnswer };
    if (told.kind === 'answer') answer = told.answer ?? null;
  };
  instance.send('read');
  await instance.untilSo('the stores are read', () => answer !== null || instance.errors.length > 2);
  expect(instance.errors.slice(2)).toEqual([]);
  const { rows, byKey, partitions: answered, windows, isLocal, nothing, count, last, rest } = answer as unknown as StoresAnswer;
  const model = [...run.output.model().state].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  expect(rows).toEqual(model);
  expect(byKey).toEqual(model);
  expect(answered.map(([partition]) => partition)).toEqual([0, 1, 2, 3]);
  expect(answered.filter(([, has]) => has === true)).toHaveLength(1);
  expect(windows).toHaveLength(7);
  expect(windows).toEqual([...windows].sort((a, b) => a - b));
  expect([isLocal, nothing]).toEqual([true, null]);
  // Not exact where tasks have moved.
  expect(count).toBeGreaterThanOrEqual(model.length);
  const keys = model.map(([key]) => key);
  expect(last).toEqual(keys.slice(-3).reverse());
  expect(rest).toBe(keys.length - 3);
}

describe('an app of two stream threads', () => {
  it('shares its tasks, moves them as threads come, go and die, and gives what the model says', async () => {
    const run = await begin('threads', { answer: 'replaceThread', config: { sessionTimeout: 6000, heartbeatInterval: 1500 } });
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
    only.send('hang 2');
    await only.untilSo('the thread that hangs is found', () => only.errors.length === 2);
    expect(only.errors[1]!.message).toContain('did not answer');
    await spreadOver(only, 3);
    only.send('removeThread');
    await spreadOver(only, 2);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    expect(Object.values((await only.measure()).tasks).map(({ sourceIdleTime }) => sourceIdleTime)).not.toContain(null);
    await expectTheStores(run, only);
    const folder = await run.liveFolder();
    await only.close();
    const { recordsProcessed } = Object.values(only.metrics!.tasks).reduce((a, b) => ({
      ...a,
      recordsProcessed: a.recordsProcessed + b.recordsProcessed,
    }));
    expect(recordsProcessed).toBeGreaterThan(0);
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(only.errors).toHaveLength(2);
  });

  it('loses nothing when its process is killed, when a thread hangs in user code, or dies and nobody wants it replaced', async () => {
    const run = await begin('threads-killed');
    const only = run.instance();
    run.input.start(400);
    only.start();
    await only.untilState('running');
    await only.kill();
    only.start();
    await spreadOver(only, 2);
    only.send('hang 0');
    only.send('closeWithin');
    await only.untilGone();
    expect(only.errors.splice(0)).toEqual([expect.objectContaining({ code: 'MILL_CLOSE_TIMEOUT' })]);

    only.start();
    await spreadOver(only, 2);
    only.send('throw 1');
    await only.untilSo('the app ends', () => only.state === 'error');
    expect(only.errors.splice(0)).toEqual([
      expect.objectContaining({ code: 'MILL_THREAD_CRASHED', message: expect.stringContaining('nothing catches this') }),
    ]);
    await only.close();

    only.start();
    await spreadOver(only, 2);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const folder = await run.liveFolder();
    await only.close();
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(only.errors).toEqual([]);
  });

  it('outlives a thread that reaches the limit of its heap: another one takes its place and its number, though the handler adds a thread meanwhile, and the process never falls', async () => {
    const threadResourceLimits = { maxOldGenerationSizeMb: 96 };
    const run = await begin('threads-heap', { answer: 'replaceThread', addsThread: true, config: { threadResourceLimits } });
    const only = run.instance();
    run.input.start(400);
    only.start();
    await spreadOver(only, 2);
    const { pid } = only;
    only.send('hoard 1');
    await only.untilSo('the crash is told', () => only.errors.length === 1);
    expect(only.errors[0]).toMatchObject({ code: 'MILL_THREAD_CRASHED', message: expect.stringContaining('limit of its JavaScript heap') });
    expect(threadsOf(await spreadOver(only, 3))).toEqual(['0', '1', '2']);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    expect(only.pid).toBe(pid);
    await only.close();
    expect(only.errors).toHaveLength(1);
  });

  it('gets its tasks from the broker as well: a streams group', async () => {
    const run = await begin('threads-streams', { config: { groupProtocol: 'streams' } });
    const only = run.instance();
    run.input.start(400);
    only.start();
    await spreadOver(only, 2);
    only.send('addThread');
    await spreadOver(only, 3);
    only.send('removeThread');
    await spreadOver(only, 2);
    await only.kill();
    only.start();
    await spreadOver(only, 2);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const folder = await run.liveFolder();
    await only.close();
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(only.errors).toEqual([]);
  });

  it('runs to the end of its input and ends', async () => {
    const run = await begin('threads-bounded', { bounded: true });
    await run.input.send(2000);
    const only = run.instance();
    only.start();
    await only.untilGone();
    expect(only.errors).toEqual([]);
    expect(await run.differences()).toEqual([]);
    expect(threadsOf(only.metrics!)).toEqual([]);
    expect(Object.values(only.metrics!.tasks).reduce((sum, task) => sum + task.recordsProcessed, 0)).toBeGreaterThanOrEqual(2000);
  });

  it('is one instance to others: standbys go to another process, both know who has what', async () => {
    const config = { numStandbyReplicas: 1, applicationServer: 'here:1' };
    const run = await begin('threads-standbys', { config });
    const [two, one] = [run.instance('two threads'), run.instance('one thread', undefined, { threads: 1, applicationServer: 'there:1' })];
    run.input.start(200);
    two.start();
    one.start();
    await two.untilSo('each has its share, and copies of the other’s', async () => {
      const [mine, others] = [await two.measure(), await one.measure()];
      const active = (metrics: AppMetrics): string[] =>
        Object.keys(metrics.tasks)
          .filter((id) => metrics.tasks[id]?.active)
          .sort();
      const copies = (metrics: AppMetrics): string[] => Object.keys(metrics.standbys).sort();
      return (
        active(mine).length + active(others).length === 2 * partitions &&
        [2, 3].includes(active(others).length) &&
        JSON.stringify(copies(mine)) === JSON.stringify(active(others)) &&
        JSON.stringify(copies(others)) === JSON.stringify(active(mine))
      );
    });
    await one.kill();
    await spreadOver(two, 2);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await two.close();
    expect(two.errors).toEqual([]);
  });
});
