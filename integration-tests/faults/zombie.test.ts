import { afterEach, describe, expect, it } from '@jest/globals';
import { ApiKeys } from './api-keys.js';
import { activeTasks } from './job-process.js';
import { JobRun } from './job-run.js';
import type { Verdict } from './kafka-proxy.js';
import { until } from './until.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string): Promise<JobRun> {
  const run = await JobRun.create(name);
  runs.push(run);
  run.input.start(200);
  return run;
}

/** Freezes one of two instances when it sends that request, and lets both go on when the other one has taken everything over. */
async function freezeAndWake(api: 'endTxn' | 'txnOffsetCommit' | 'produce'): Promise<void> {
  const run = await begin(`zombie-${api.toLowerCase()}`);
  const { instance: zombie, proxy } = await run.proxied('zombie');
  const survivor = run.instance('survivor');
  for (const instance of [zombie, survivor]) instance.start();
  for (const instance of [zombie, survivor]) await instance.untilState('running');

  let wake: () => void = () => undefined;
  const awake = new Promise<void>((resolve) => (wake = resolve));
  let frozen = false;
  proxy.onRequest = async ({ apiKey }): Promise<Verdict> => {
    if (!frozen && apiKey === ApiKeys[api]) {
      frozen = true;
      zombie.freeze();
    }
    if (frozen) await awake;
    return 'pass';
  };
  await until(
    'the zombie is frozen',
    () => frozen,
    30_000,
    () => run.story(),
  );
  await survivor.untilSo('the survivor has every task', async () => (await activeTasks(survivor)) === 6);
  const before = (await run.output.mapped.poll()).length;
  await survivor.untilSo('the survivor commits for all', async () => (await run.output.mapped.poll()).length > before + 100);

  wake();
  zombie.thaw();
  await zombie.untilSo('the zombie has tasks again', async () => zombie.state === 'running' && (await activeTasks(zombie)) === 3);
  await run.input.stop();
  expect(await run.differences()).toEqual([]);
  for (const instance of [zombie, survivor]) await instance.close();
  expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
}

describe('a process that is frozen (SIGSTOP) and wakes up', () => {
  it('after its session ended, with its EndTxn, its offsets or its output on the way: it is fenced, nothing is doubled, it rejoins by itself', async () => {
    // Side by side: most of the time goes by waiting for sessions to end.
    await Promise.all((['endTxn', 'txnOffsetCommit', 'produce'] as const).map(freezeAndWake));
  });

  it('after its transaction timed out, alone: it aborts, begins again and goes on by itself', async () => {
    const run = await begin('overslept');
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    let frozen = false;
    proxy.onResponse = ({ apiKey }) => {
      if (!frozen && apiKey === ApiKeys.txnOffsetCommit) {
        frozen = true;
        instance.freeze();
      }
      return 'pass';
    };
    await until(
      'it is frozen',
      () => frozen,
      30_000,
      () => run.story(),
    );
    await until('the broker aborts its transaction', async () => (await run.port.listOpenTransactions(run.applicationId))?.length === 0);
    instance.thaw();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });
});
