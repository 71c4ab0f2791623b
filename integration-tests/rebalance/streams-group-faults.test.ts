import { afterEach, describe, expect, it } from '@jest/globals';
import { alterGroupSettings } from '../../scripts/stack/group-settings.js';
import type { AppMetrics } from '../../src/index.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';
import { until } from '../faults/until.js';

const partitions = 3;
/** Of the input, of what it is repartitioned to, and what reads that. */
const tasks = 2 * partitions;
const records = 9000;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

/** Two instances of a streams group that misses a dead member after 3 s. */
async function begin(name: string, settings: Readonly<Record<string, string>>): Promise<{ run: JobRun; a: JobProcess; b: JobProcess }> {
  const run = await JobRun.create(name, { partitions, keys: 3000, config: { groupProtocol: 'streams' } });
  runs.push(run);
  await alterGroupSettings((process.env['KAFKA_BROKERS'] ?? '').split(','), run.applicationId, {
    'streams.session.timeout.ms': '3000',
    'streams.heartbeat.interval.ms': '1000',
    ...settings,
  });
  const [a, b] = [run.instance('a'), run.instance('b')];
  for (const instance of [a, b]) instance.start();
  return { run, a, b };
}

const running = ({ tasks: all }: AppMetrics): string[] => Object.keys(all).filter((id) => all[id]?.active);
const copies = ({ standbys }: AppMetrics): string[] => Object.keys(standbys);

async function untilShared(run: JobRun, instances: readonly JobProcess[], condition: (all: readonly AppMetrics[]) => boolean = () => true) {
  await until(
    'both have half of the tasks',
    async () => {
      if (instances.some(({ state }) => state !== 'running')) return false;
      const all = await Promise.all(instances.map((instance) => instance.measure()));
      return all.every((metrics) => running(metrics).length === tasks / 2) && condition(all);
    },
    60_000,
    () => run.story(),
  );
}

async function untilAlone(run: JobRun, instance: JobProcess): Promise<void> {
  await until(
    `${instance.name} runs everything`,
    async () => instance.state === 'running' && running(await instance.measure()).length === tasks,
    60_000,
    () => run.story(),
  );
}

describe('a streams group', () => {
  it('keeps copies where it is told to: a killed instance’s tasks go on from them with only a tail to restore', async () => {
    const { run, a, b } = await begin('streams-standbys', { 'streams.num.standby.replicas': '1' });
    const each = [a, b];
    await untilShared(run, each);
    await run.input.send(records);
    await run.complete();
    run.input.start(300);
    const follow = ({ standbys }: AppMetrics): boolean => Object.values(standbys).every(({ lag }) => lag < 1000);
    await untilShared(run, each, (all) => all.every((metrics) => copies(metrics).length > 0 && follow(metrics)));
    for (const metrics of each.map((instance) => instance.metrics as AppMetrics))
      expect(copies(metrics).filter((id) => running(metrics).includes(id))).toEqual([]);

    a.restored.length = 0;
    await b.kill();
    await untilAlone(run, a);
    expect(a.restored.length).toBeGreaterThan(0);
    expect(a.restored.map(({ whole }) => whole)).not.toContain(true);
    expect(a.restored.reduce((sum, { recordsRestored }) => sum + recordsRestored, 0)).toBeLessThan(0.2 * records);

    b.start();
    await untilShared(run, each, (all) => all.every((metrics) => copies(metrics).length > 0));
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of each) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('fences a member that was silent for longer than its session: it drops its tasks, joins again by itself, and nothing is lost or doubled', async () => {
    const { run, a, b } = await begin('streams-silent', {});
    run.input.start(300);
    await untilShared(run, [a, b]);
    b.freeze();
    await untilAlone(run, a);
    const before = (await run.output.mapped.poll()).length;
    await a.untilSo('it commits for all', async () => (await run.output.mapped.poll()).length > before + 100);
    b.thaw();
    await untilShared(run, [a, b]);
    expect(b.log.join('\n')).toContain('tasks lost');
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [a, b]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
