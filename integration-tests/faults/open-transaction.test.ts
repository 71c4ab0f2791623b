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

/** What there is of the epoch. Output is written when the offsets are asked for: the answer of a Produce may be that nothing is, since the epoch before has not ended yet. */
type Moment = 'output written' | 'offsets pending';

/** Ends the process in the middle of an epoch, with its transaction open. */
async function killWithin(run: JobRun, instance: JobProcess, proxy: KafkaProxy, moment: Moment): Promise<void> {
  let killed = false;
  proxy[moment === 'output written' ? 'onRequest' : 'onResponse'] = ({ apiKey }) => {
    if (killed) return 'cut';
    if (apiKey !== ApiKeys.txnOffsetCommit) return 'pass';
    killed = true;
    process.kill(instance.pid, 'SIGKILL');
    return 'cut';
  };
  await until(
    `killed with ${moment}`,
    () => killed,
    30_000,
    () => run.story(),
  );
  await instance.kill();
  proxy.passAll();
  expect(await run.port.listOpenTransactions(run.applicationId)).toContainEqual(expect.stringContaining(run.applicationId));
}

async function killOneOfTwo(variant: JobVariant, moment: Moment, config: JobRunOptions['config'] = {}): Promise<void> {
  const run = await begin(`left-open-${variant.toLowerCase()}`, { variant, config });
  const { instance: victim, proxy } = await run.proxied('victim');
  const survivor = run.instance('survivor');
  for (const instance of [victim, survivor]) instance.start();
  for (const instance of [victim, survivor]) await instance.untilState('running');
  await killWithin(run, victim, proxy, moment);
  await run.input.stop();
  expect(await run.differences()).toEqual([]);
  await survivor.close();
  expect(survivor.errors).toEqual([]);
}

describe('a transaction left open by an instance that was killed', () => {
  it('with its offsets pending, with output and changelog written, in an app without state: once the group notices, survivors and readers go on', async () => {
    // Side by side: most of the time goes by waiting for sessions to end.
    await Promise.all([
      killOneOfTwo('everything', 'offsets pending'),
      killOneOfTwo('everything', 'output written'),
      killOneOfTwo('mapOnly', 'output written'),
      killOneOfTwo('everything', 'offsets pending', patient),
      killOneOfTwo('mapOnly', 'output written', patient),
    ]);
  });

  it.each([
    ['offsets pending', {}],
    ['offsets pending', patient],
    ['output written', {}],
  ] as const)('the same instance, started again with %s, goes on at once: %j', async (moment, config) => {
    const run = await begin('left-open-alone', { config });
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    await killWithin(run, instance, proxy, moment);
    instance.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });
});
