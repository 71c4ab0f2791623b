import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { ApiKeys } from './api-keys.js';
import { JobRun } from './job-run.js';
import type { Verdict } from './kafka-proxy.js';
import { chaosSeed, Random } from './random.js';
import { until } from './until.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string): Promise<JobRun> {
  const run = await JobRun.create(name);
  runs.push(run);
  run.input.start(300);
  return run;
}

type Fault = (api: keyof typeof ApiKeys, how: 'lost request' | 'lost answer' | 'late answer') => Promise<void>;

describe('frames that get lost between an instance and the broker', () => {
  const seed = chaosSeed();

  it(`each request of an epoch and of the group: lost, its answer lost, its answer late (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await begin('lost-frames');
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');

    const strike: Fault = async (api, how) => {
      let done = false;
      const judge = async ({ apiKey }: { readonly apiKey: number }): Promise<Verdict> => {
        if (done || apiKey !== ApiKeys[api]) return 'pass';
        done = true;
        if (how === 'late answer') await delay(random.between(200, 1500));
        return how === 'late answer' ? 'pass' : 'cut';
      };
      if (how === 'lost request') proxy.onRequest = judge;
      else proxy.onResponse = judge;
      await until(
        `${how} of ${api}`,
        () => done,
        30_000,
        () => run.story(),
      );
      proxy.passAll();
      await progress(run);
    };
    for (const api of ['produce', 'txnOffsetCommit', 'endTxn', 'fetch', 'heartbeat'] as const) {
      for (const how of ['lost request', 'lost answer', 'late answer'] as const) await strike(api, how);
    }
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });

  it('an answer of each kind is lost while an instance starts', async () => {
    const run = await begin('lost-at-start');
    const { instance, proxy } = await run.proxied();
    // The first two metadata answers belong to the connections themselves: without them the broker is unreachable.
    const kinds = {
      metadata: 3,
      listOffsets: 1,
      findCoordinator: 1,
      initProducerId: 1,
      joinGroup: 1,
      syncGroup: 1,
      offsetFetch: 1,
    } as const;
    for (const [api, which] of Object.entries(kinds)) {
      let seen = 0;
      proxy.onResponse = ({ apiKey }) => (apiKey === ApiKeys[api as keyof typeof kinds] && ++seen === which ? 'cut' : 'pass');
      instance.start();
      await instance.untilSo(`it runs although an answer to ${api} was lost`, () => instance.state === 'running');
      expect(seen).toBeGreaterThanOrEqual(which);
      await progress(run);
      await instance.kill();
    }
    proxy.passAll();
    instance.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });

  it('every connection is cut, again and again, with two instances', async () => {
    const run = await begin('cut-connections');
    const [first, second] = [await run.proxied(), await run.proxied()];
    for (const { instance } of [first, second]) instance.start();
    for (const { instance } of [first, second]) await instance.untilState('running');
    for (let i = 0; i < 6; i++) {
      (i % 2 === 0 ? first : second).proxy.cutAll();
      await progress(run);
    }
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await first.instance.close();
    await second.instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('every answer of the coordinators is lost for some seconds', async () => {
    const run = await begin('deaf-coordinators');
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    let cut = 0;
    proxy.onResponse = ({ apiKey }) => {
      if (apiKey !== ApiKeys.endTxn && apiKey !== ApiKeys.txnOffsetCommit && apiKey !== ApiKeys.initProducerId) return 'pass';
      cut++;
      return 'cut';
    };
    await until(
      'eight answers are lost',
      () => cut >= 8,
      60_000,
      () => run.story(),
    );
    proxy.passAll();
    await progress(run);
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });
});

/** The job goes on: more output is committed than before. */
async function progress(run: JobRun): Promise<void> {
  const before = (await run.output.mapped.poll()).length;
  await until(
    'the job goes on',
    async () => (await run.output.mapped.poll()).length > before + 20,
    60_000,
    () => run.story(),
  );
}
