import { afterEach, describe, expect, it } from '@jest/globals';
import type { JobVariant } from '../exactly-once/job-topology.js';
import { ApiKeys } from './api-keys.js';
import type { JobProcess } from './job-process.js';
import { JobRun, type JobRunOptions } from './job-run.js';
import type { KafkaProxy } from './kafka-proxy.js';
import { until } from './until.js';

/** So long that nothing can be explained by it: some cases run under it, besides those with the library’s defaults. */
const patient = { transactionTimeout: 600_000 };
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, options: JobRunOptions = {}): Promise<JobRun> {
  const run = await JobRun.create(name, options);
  runs.push(run);
  run.input.start(200);
  return run;
}

/** Ends the process in the middle of an epoch: with that answer under way, so that what was asked is done and the transaction is open. */
async function killWithin(run: JobRun, instance: JobProcess, proxy: KafkaProxy, api: 'produce' | 'txnOffsetCommit'): Promise<void> {
  let killed = false;
  proxy.onResponse = ({ apiKey }) => {
    if (killed) return 'cut';
    if (apiKey !== ApiKeys[api]) return 'pass';
    killed = true;
    process.kill(instance.pid, 'SIGKILL');
    return 'cut';
  };
  await until(
    `killed at the answer of ${api}`,
    () => killed,
    30_000,
    () => run.story(),
  );
  await instance.kill();
  proxy.passAll();
  expect(await run.port.listOpenTransactions(run.applicationId)).toContainEqual(expect.stringContaining(run.applicationId));
}

async function killOneOfTwo(variant: JobVariant, api: 'produce' | 'txnOffsetCommit', config: JobRunOptions['config'] = {}): Promise<void> {
  const run = await begin(`left-open-${variant.toLowerCase()}`, { variant, config });
  const { instance: victim, proxy } = await run.proxied('victim');
  const survivor = run.instance('survivor');
  for (const instance of [victim, survivor]) instance.start();
  for (const instance of [victim, survivor]) await instance.untilState('running');
  await killWithin(run, victim, proxy, api);
  await run.input.stop();
  expect(await run.differences()).toEqual([]);
  await survivor.close();
  expect(survivor.errors).toEqual([]);
}

describe('a transaction left open by an instance that was killed', () => {
  it('with its offsets pending, with output and changelog written, in an app without state: once the group notices, survivors and readers go on', async () => {
    // Side by side: most of the time goes by waiting for sessions to end.
    await Promise.all([
      killOneOfTwo('everything', 'txnOffsetCommit'),
      killOneOfTwo('everything', 'produce'),
      killOneOfTwo('mapOnly', 'produce'),
      killOneOfTwo('everything', 'txnOffsetCommit', patient),
      killOneOfTwo('mapOnly', 'produce', patient),
    ]);
  });

  it.each([
    ['txnOffsetCommit', {}],
    ['txnOffsetCommit', patient],
    ['produce', {}],
  ] as const)('the same instance, started again after %s, goes on at once: %j', async (api, config) => {
    const run = await begin('left-open-alone', { config });
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    await killWithin(run, instance, proxy, api);
    instance.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });
});
