import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { JobRun } from '../faults/job-run.js';
import { chaosSeed, Random } from '../faults/random.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

describe('asynchronous operators under kill -9', () => {
  const seed = chaosSeed();

  it(`each record has its one result, in order; within a process each is called for once (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await JobRun.create('async-killed', { variant: 'async' });
    runs.push(run);
    run.input.start(300);
    const [victim, steady] = [run.instance(), run.instance()];
    for (const instance of [victim, steady]) instance.start();
    for (const instance of [victim, steady]) await instance.untilState('running');
    for (let kill = 0; kill < 3; kill++) {
      await delay(random.between(200, 1500));
      await victim.kill();
      victim.start();
      await victim.untilState('running');
    }
    // A rebalance on purpose: what is unfinished moves with the tasks.
    await victim.close();
    await steady.untilState('running');
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const metrics = await steady.measure();
    expect(Object.values(metrics.tasks).reduce((sum, { unfinishedRecords }) => sum + unfinishedRecords, 0)).toBe(0);
    expect(steady.calls?.records).toBeGreaterThan(100);
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
    await steady.close();
  });

  it('one process without a fault calls once for each record, whatever the epochs', async () => {
    const run = await JobRun.create('async-calm', { variant: 'async', config: { commitInterval: 10 } });
    runs.push(run);
    const only = run.instance();
    only.start();
    await only.untilState('running');
    run.input.start(500);
    await delay(4000);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const metrics = await only.measure();
    expect(metrics.epochs?.failedEpochs).toBe(0);
    expect(only.calls?.calledAgain).toEqual([]);
    expect(only.calls?.records).toBe(3 * run.output.mapped.records.length);
    await only.close();
  });
});
