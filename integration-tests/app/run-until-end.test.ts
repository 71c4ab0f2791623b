import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { JobRun } from '../faults/job-run.js';
import { chaosSeed, Random } from '../faults/random.js';
import { until } from '../faults/until.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

describe('runUntilEnd() on a broker', () => {
  const seed = chaosSeed();

  it(`killed in the middle and started again, with a second instance: each window once, outputs as the model says (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await JobRun.create('bounded', { bounded: true });
    runs.push(run);
    for (let part = 0; part < 20; part++) {
      await run.input.send(1000);
      await delay(50);
    }
    const first = run.instance();
    for (let kill = 0; kill < 3; kill++) {
      first.start();
      await first.untilState('rebalancing');
      await delay(random.between(0, 1200));
      await first.kill();
    }
    const second = run.instance();
    for (const instance of [first, second]) instance.start();
    await until(
      'both have ended by themselves',
      () => !first.isAlive && !second.isAlive,
      90_000,
      () => run.story(),
    );
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
    expect([first, second].map(({ state }) => state)).toEqual(['notRunning', 'notRunning']);
    // All is committed when the processes have ended.
    expect(await run.differences(5_000)).toEqual([]);

    await run.input.send(500);
    first.start();
    await until(
      'the next run has ended',
      () => !first.isAlive,
      60_000,
      () => run.story(),
    );
    expect(first.metrics?.tasks['0_0']?.recordsProcessed).toBeLessThan(1000);
    expect(run.output.mapped.records.length).toBeLessThanOrEqual((await run.output.mapped.poll()).length);
    expect((await run.output.mapped.poll()).length).toBe(20_500);
  });
});
