import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { ApiKeys } from '../faults/api-keys.js';
import { JobRun } from '../faults/job-run.js';
import type { Verdict } from '../faults/kafka-proxy.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

describe('a rebalance whose answers come late', () => {
  it('tasks that stay go on committing, although the broker is a generation ahead', async () => {
    const run = await JobRun.create('late-answers');
    runs.push(run);
    run.input.start(300);
    const { instance: first, proxy } = await run.proxied('first');
    first.start();
    await first.untilState('running');
    proxy.onResponse = async ({ apiKey }): Promise<Verdict> => {
      if (apiKey === ApiKeys.joinGroup) await delay(1500);
      return 'pass';
    };
    const second = run.instance('second');
    second.start();
    await second.untilSo(
      'both have their share',
      async () => second.state === 'running' && Object.keys((await second.measure()).tasks).length === 3,
    );
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [first, second]) await instance.close();
    expect(first.metrics?.epochs?.failedEpochs).toBe(0);
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
