import { watch } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { ApiKeys } from '../faults/api-keys.js';
import { epochMoments, type KillMoment } from '../faults/epoch-moments.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun, type JobRunOptions } from '../faults/job-run.js';
import { killAt } from '../faults/kill-at.js';
import { chaosSeed, Random } from '../faults/random.js';
import { until } from '../faults/until.js';
import { stateDifferences } from './job-state.js';

const perSecond = 300;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, config: JobRunOptions['config'] = {}): Promise<JobRun> {
  const run = await JobRun.create(name, { config });
  runs.push(run);
  run.input.start(perSecond);
  return run;
}

/** The load ends; then outputs, changelogs and the store on disk of the one instance that is left must be what the model says. */
async function expectTheModel(run: JobRun, last: JobProcess): Promise<void> {
  await run.input.stop();
  expect(await run.differences()).toEqual([]);
  const folder = await run.liveFolder();
  await last.close();
  expect(await stateDifferences(run, folder)).toEqual([]);
  expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
}

describe('kill -9 with the library’s defaults', () => {
  const seed = chaosSeed();
  const named = (what: string): string => `${what} (CHAOS_SEED=${seed})`;

  it(named('one instance, killed twelve times at any point of its life'), async () => {
    const random = new Random(seed);
    const run = await begin('killed-alone');
    const only = run.instance();
    for (let kill = 0; kill < 12; kill++) {
      only.start();
      if (kill % 3 < 2) await only.untilState('running');
      await delay(random.between(0, kill % 3 === 2 ? 2000 : 500));
      await only.kill();
    }
    only.start();
    await expectTheModel(run, only);
  });

  it(named('three instances, one or two of them killed ten times'), async () => {
    const random = new Random(seed + 1);
    const run = await begin('killed-among-others');
    const all = [run.instance(), run.instance(), run.instance()];
    for (const instance of all) instance.start();
    for (const instance of all) await instance.untilState('running');
    for (let kills = 0; kills < 10;) {
      await delay(random.between(0, 700));
      const spared = random.pick(all);
      const victims = random.next() < 0.3 ? all.filter((instance) => instance !== spared) : [spared];
      await Promise.all(victims.map((victim) => victim.kill()));
      kills += victims.length;
      for (const victim of victims) victim.start();
      if (random.next() < 0.7) for (const victim of victims) await victim.untilState('running');
    }
    await all[1]!.kill();
    await all[2]!.untilState('running');
    await all[2]!.close();
    await expectTheModel(run, all[0]!);
  });

  const moments: Readonly<Record<string, readonly [...KillMoment, ('-main' | '-restore')?]>> = {
    ...epochMoments,
    'while it restores': ['response', 'fetch', 'pass', '-restore'],
    'while it joins the group': ['request', 'syncGroup', 'pass'],
    'while it takes its identity': ['request', 'initProducerId', 'pass'],
  };

  it('at each step of an epoch and of a start', async () => {
    const run = await begin('killed-at');
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    for (const [where, [direction, api, verdict, purpose = '-main']] of Object.entries(moments)) {
      const needsStart = purpose === '-restore' || api === 'syncGroup' || api === 'initProducerId';
      if (needsStart) {
        const before = (await run.output.mapped.poll()).length;
        await instance.untilSo('there is something to restore', async () => (await run.output.mapped.poll()).length > before);
        await instance.kill();
      }
      const killed = killAt(
        instance,
        proxy,
        direction,
        verdict,
        ({ apiKey, clientId }) => apiKey === ApiKeys[api] && clientId.endsWith(purpose),
      );
      if (needsStart) instance.start();
      await until(
        `killed ${where}`,
        () => killed(),
        30_000,
        () => instance.story(),
      );
      await instance.kill();
      proxy.passAll();
      instance.start();
      await instance.untilState('running');
    }
    await expectTheModel(run, instance);
  });

  it(named('with stores in memory, restored whole each time'), async () => {
    const random = new Random(seed + 2);
    const run = await begin('killed-in-memory', { storeEngine: 'memory' });
    const instance = run.instance();
    for (let kill = 0; kill < 4; kill++) {
      instance.start();
      await instance.untilState('running');
      await delay(random.between(0, 500));
      await instance.kill();
    }
    instance.start();
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(instance.errors).toEqual([]);
  });

  it(named('at least once: nothing is lost, though some may come again'), async () => {
    const random = new Random(seed + 3);
    const run = await begin('killed-at-least-once', { processingGuarantee: 'at_least_once' });
    const instance = run.instance();
    for (let kill = 0; kill < 4; kill++) {
      instance.start();
      await instance.untilState('running');
      // Before and after the first commits, which are a second apart.
      await delay(random.between(0, 2500));
      await instance.kill();
    }
    instance.start();
    await run.input.stop();
    const lost = async (): Promise<string[]> => {
      await run.output.isComplete();
      const written = new Set(run.output.mapped.records.map(({ key, value }) => `${key} ${value?.readInt32BE(0)}`));
      return [...run.output.model().values]
        .flatMap(([key, values]) => values.map((value) => `${key} ${value}`))
        .filter((pair) => !written.has(pair));
    };
    await until(
      'every record is there',
      async () => (await lost()).length === 0,
      60_000,
      () => run.story(),
    );
    await instance.close();
    expect(instance.errors).toEqual([]);
  });

  it('while LevelDB is written', async () => {
    const run = await begin('killed-in-flush');
    const instance = run.instance();
    for (let kill = 0; kill < 4; kill++) {
      instance.start();
      await instance.untilState('running');
      let writes = 0;
      const watcher = watch(join(await run.liveFolder(), 'tasks', `0_${kill % 3}`, 'db'), () => {
        if (++writes === 1 + kill) process.kill(instance.pid, 'SIGKILL');
      });
      await until(
        'killed at a write to the database',
        () => !instance.isAlive,
        30_000,
        () => instance.story(),
      );
      watcher.close();
    }
    instance.start();
    await expectTheModel(run, instance);
  });
});
