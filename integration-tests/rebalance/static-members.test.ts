import { afterEach, describe, expect, it } from '@jest/globals';
import { JobRun } from '../faults/job-run.js';
import { until } from '../faults/until.js';

const partitions = 3;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string): Promise<JobRun> {
  const run = await JobRun.create(name, { partitions, config: { sessionTimeout: 30_000 } });
  runs.push(run);
  return run;
}

describe('static members', () => {
  it('that are killed or closed come back without a rebalance, and outputs equal the model', async () => {
    const run = await begin('static');
    const a = run.instance('a', undefined, { groupInstanceId: 'seat-a' });
    const b = run.instance('b', undefined, { groupInstanceId: 'seat-b' });
    run.input.start(200);
    for (const instance of [a, b]) instance.start();
    const share = async (instance: typeof a): Promise<readonly string[]> => (await instance.measure()).group?.ownedTasks ?? [];
    await until(
      'both have their share',
      async () => {
        if (a.state !== 'running' || b.state !== 'running') return false;
        return (await share(a)).length === partitions && (await share(b)).length === partitions;
      },
      60_000,
      () => run.story(),
    );
    const { generation } = (await a.measure()).group!;
    const tasks = await share(b);
    for (const stop of ['kill', 'close'] as const) {
      await b[stop]();
      b.start();
      await b.untilState('running');
      expect(await share(b)).toEqual(tasks);
      expect((await b.measure()).group!.generation).toBe(generation);
    }
    expect((await a.measure()).group!.generation).toBe(generation);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [a, b]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('are told when another process has their id', async () => {
    const run = await begin('static-twice');
    const [first, second] = [
      run.instance('first', undefined, { groupInstanceId: 'seat' }),
      run.instance('second', undefined, { groupInstanceId: 'seat' }),
    ];
    await run.input.send(100);
    first.start();
    await first.untilState('running');
    second.start();
    await first.untilState('error');
    await second.untilState('running');
    expect(first.errors).toMatchObject([{ code: 'MILL_INSTANCE_FENCED' }]);
    await run.input.send(100);
    expect(await run.differences()).toEqual([]);
    await second.close();
  });
});
