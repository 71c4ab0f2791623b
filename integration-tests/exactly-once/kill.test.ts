import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { JobRun } from '../faults/job-run.js';
import { chaosSeed, Random } from '../faults/random.js';
import { stateDifferences } from './job-state.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string): Promise<JobRun> {
  const run = await JobRun.create(name);
  runs.push(run);
  return run;
}

describe('kill -9 with the library’s defaults', () => {
  it('one instance, killed at any point', async () => {
    const random = new Random(chaosSeed());
    const run = await begin('killed-alone');
    const only = run.instance();
    run.input.start(300);
    for (let kill = 0; kill < 2; kill++) {
      only.start();
      await only.untilState('running');
      await delay(random.between(0, 600));
      await only.kill();
    }
    only.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    const folder = await run.liveFolder();
    await only.close();
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(only.errors).toEqual([]);
  });
});
