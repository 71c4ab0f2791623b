import { afterEach, describe, expect, it } from '@jest/globals';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';
import { until } from '../faults/until.js';

const partitions = 3;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, config: object = {}): Promise<JobRun> {
  const run = await JobRun.create(name, { partitions, config: { groupProtocol: 'streams', ...config } });
  runs.push(run);
  return run;
}

async function owned(instance: JobProcess): Promise<readonly string[]> {
  return (await instance.measure()).group?.ownedTasks ?? [];
}

async function untilShared(instances: readonly JobProcess[], each: number, story: () => string): Promise<void> {
  await until(
    `each has ${each} tasks`,
    async () => {
      for (const instance of instances) if (instance.state !== 'running' || (await owned(instance)).length !== each) return false;
      return true;
    },
    60_000,
    story,
  );
}

describe('a streams group', () => {
  it('goes on where a classic one stopped, 1 → 2 → 1 with a kill -9 under load, and back: outputs equal the model', async () => {
    const run = await begin('streams');
    await run.input.send(100);
    const before = run.instance('before', undefined, { groupProtocol: 'classic' });
    before.start();
    await before.untilState('running');
    await run.complete();
    await before.close();

    const [a, b] = [run.instance('a'), run.instance('b')];
    run.input.start(400);
    a.start();
    await untilShared([a], 2 * partitions, () => run.story());
    b.start();
    await untilShared([a, b], partitions, () => run.story());
    const tasks = [...(await owned(b))].sort();
    await b.kill();
    b.start();
    await untilShared([a, b], partitions, () => run.story());
    expect([...(await owned(b))].sort()).toEqual(tasks);
    await b.close();
    await untilShared([a], 2 * partitions, () => run.story());
    expect((await a.measure()).epochs?.failedEpochs).toBe(0);
    await a.close();

    const after = run.instance('after', undefined, { groupProtocol: 'classic' });
    after.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await after.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('keeps the place of a static member that is killed: no task moves', async () => {
    const run = await begin('streams-static');
    const [a, b] = [
      run.instance('a', undefined, { groupInstanceId: 'seat-a' }),
      run.instance('b', undefined, { groupInstanceId: 'seat-b' }),
    ];
    run.input.start(200);
    for (const instance of [a, b]) instance.start();
    await untilShared([a, b], partitions, () => run.story());
    const tasks = [...(await owned(b))].sort();
    await b.kill();
    b.start();
    await untilShared([a, b], partitions, () => run.story());
    expect([...(await owned(b))].sort()).toEqual(tasks);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [a, b]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
