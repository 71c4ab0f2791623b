import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { moreInputs, type JobRelease } from '../exactly-once/job-releases.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';

const partitions = 4;
const file = fileURLToPath(new URL('released-job.ts', import.meta.url));
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

/** A run with the topics that later releases read besides. */
async function begin(name: string): Promise<JobRun> {
  const run = await JobRun.create(name, { partitions, file });
  runs.push(run);
  const more = moreInputs.map((name) => ({ topic: run.topics[name], partitions, replicationFactor: -1, configs: {} }));
  for (const { topic, errorCode } of await run.port.admin.createTopics(more))
    if (errorCode !== 0) throw new Error(`${topic}: ${errorCode}`);
  return run;
}

async function started(run: JobRun, release: JobRelease): Promise<JobProcess> {
  const instance = run.instance(`${release} ${run.instances.length}`, undefined, {}, { release });
  instance.start();
  await instance.untilState('running');
  return instance;
}

async function tasksOf(instance: JobProcess): Promise<string[]> {
  const { tasks } = await instance.measure();
  return Object.keys(tasks)
    .filter((id) => tasks[id]?.active)
    .sort();
}

const ids = (...subTopologies: readonly number[]): string[] =>
  subTopologies.flatMap((sub) => Array.from({ length: partitions }, (_, partition) => `${sub}_${partition}`));

describe('a rolling upgrade under load', () => {
  it('to other task ids, a further part and a further store, with a kill -9, and one instance back: outputs equal the model', async () => {
    const run = await begin('upgrade');
    run.input.start(300);
    const [a, b] = [await started(run, 'first'), await started(run, 'first')];
    await a.close();
    const c = await started(run, 'added');
    // The further part is on the instance that has it; the rest is shared.
    await c.untilSo('the group has settled', async () => {
      const [onOld, onNew] = [await tasksOf(b), await tasksOf(c)];
      return onOld.length + onNew.length === 3 * partitions && onOld.length > 0;
    });
    expect((await tasksOf(c)).filter((id) => id.startsWith('0_'))).toEqual(ids(0));
    await b.kill();
    const d = await started(run, 'added');
    await d.untilSo('both have their share', async () => (await tasksOf(d)).length === (await tasksOf(c)).length);
    await c.close();
    const e = await started(run, 'first');
    await e.untilSo('the old release has work again', async () => (await tasksOf(e)).length > 0);
    await d.close();
    await e.untilSo('it has all of it', async () => (await tasksOf(e)).length === 2 * partitions);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await e.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('to a part that can’t run beside the old one: it changes hands with the last old instance; what can’t share the group is refused', async () => {
    const run = await begin('cut');
    run.input.start(300);
    const [a, b] = [await started(run, 'first'), await started(run, 'first')];
    const refused = run.instance('broken', undefined, {}, { release: 'broken' });
    refused.start();
    await refused.untilGone();
    expect(refused.errors[0]).toMatchObject({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringContaining('store updates-store is of kind timestampedKeyValue'),
    });
    await a.close();
    const c = await started(run, 'cut');
    await b.untilSo(
      'the old instance has the old part',
      async () => (await tasksOf(b)).filter((id) => id.startsWith('0_')).length === partitions,
    );
    expect((await tasksOf(c)).filter((id) => id.startsWith('0_'))).toEqual([]);
    await b.close();
    await c.untilSo('the new one has all of it', async () => (await tasksOf(c)).length === 2 * partitions);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await c.close();
    expect([a, b, c].flatMap(({ errors }) => errors)).toEqual([]);
    expect(b.metrics?.epochs?.failedEpochs).toBe(0);
  });
});
