import { afterEach, describe, expect, it } from '@jest/globals';
import type { AppMetrics } from '../../src/index.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';
import { until } from '../faults/until.js';

const partitions = 3;
/** Output partitions of the input, the repartitioned one, and what reads it. */
const tasks = 2 * partitions;
const records = 12_000;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

const running = ({ tasks: all }: AppMetrics): string[] => Object.keys(all).filter((id) => all[id]?.active);
const copies = ({ standbys }: AppMetrics): string[] => Object.keys(standbys);
const lag = ({ standbys }: AppMetrics): number => Object.values(standbys).reduce((sum, one) => sum + one.lag, 0);

async function measured(instances: readonly JobProcess[]): Promise<readonly AppMetrics[]> {
  return Promise.all(instances.map((instance) => instance.measure()));
}

/** Every task runs once, and each with state has one copy, in another instance. */
async function atRest(instances: readonly JobProcess[]): Promise<boolean> {
  if (instances.some(({ state }) => state !== 'running')) return false;
  const all = await measured(instances);
  const stateful = [...new Set(all.flatMap(copies))];
  return all.flatMap(running).length === tasks && stateful.length > 0 && all.flatMap(copies).length === stateful.length;
}

describe('standbys', () => {
  it('take a killed instance’s tasks over with only a tail to restore, and outputs equal the model', async () => {
    const run = await JobRun.create('standbys', { partitions, keys: 3000, config: { numStandbyReplicas: 1 } });
    runs.push(run);
    const [a, b, c] = [run.instance('a'), run.instance('b'), run.instance('c')];
    const all = [a, b, c];
    for (const instance of all) instance.start();
    await until(
      'all have their share',
      () => atRest(all),
      60_000,
      () => run.story(),
    );
    await run.input.send(records);
    await until(
      'the job has caught up',
      () => run.output.isComplete(),
      60_000,
      () => run.story(),
    );
    for (const metrics of await measured(all)) expect(copies(metrics).filter((id) => running(metrics).includes(id))).toEqual([]);
    run.input.start(300);
    await until(
      'the copies follow',
      async () => (await measured(all)).every((metrics) => lag(metrics) < 1000),
      60_000,
      () => run.story(),
    );

    const lost = running(await a.measure());
    await a.kill();
    for (const instance of [b, c]) instance.restored.length = 0;
    await until(
      'the others run everything',
      async () => {
        if (b.state !== 'running' || c.state !== 'running') return false;
        const now = (await measured([b, c])).flatMap(running);
        return now.length === tasks && lost.every((id) => now.includes(id));
      },
      60_000,
      () => run.story(),
    );
    const restored = [b, c].flatMap((instance) => instance.restored);
    expect(restored.length).toBeGreaterThan(0);
    expect(restored.map(({ whole }) => whole)).not.toContain(true);
    expect(restored.reduce((sum, { recordsRestored }) => sum + recordsRestored, 0)).toBeLessThan(0.2 * records);

    // The copies of what moved come back too, and the instance with them.
    a.start();
    await until(
      'all have their share again',
      () => atRest(all),
      60_000,
      () => run.story(),
    );
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of all) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('let a task with much state move only when the new instance is ready', async () => {
    const run = await JobRun.create('warm-up', { partitions, keys: 3000, config: { acceptableRecoveryLag: 100 } });
    runs.push(run);
    const [a, b] = [run.instance('a'), run.instance('b')];
    a.start();
    await a.untilState('running');
    await run.input.send(records);
    await until(
      'the job has caught up',
      () => run.output.isComplete(),
      60_000,
      () => run.story(),
    );
    b.start();
    await until(
      'both have their share',
      async () => (await measured([a, b])).every((metrics) => running(metrics).length === tasks / 2 && copies(metrics).length === 0),
      60_000,
      () => run.story(),
    );
    expect(a.log.concat(b.log).join('\n')).toContain('tasks wait for copies of their state');
    // It had copied the state before it took the tasks over.
    expect(b.restored.map(({ whole }) => whole)).not.toContain(true);
    expect(b.restored.reduce((sum, { recordsRestored }) => sum + recordsRestored, 0)).toBeLessThan(0.2 * records);
    await run.input.send(100);
    expect(await run.differences()).toEqual([]);
    for (const instance of [a, b]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
