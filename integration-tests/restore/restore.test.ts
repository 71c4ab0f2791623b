import { watch } from 'node:fs';
import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { stateDifferences } from '../exactly-once/job-state.js';
import { stores } from '../exactly-once/job-topology.js';
import { ApiKeys } from '../faults/api-keys.js';
import type { JobProcess } from '../faults/job-process.js';
import { JobRun, type JobRunOptions } from '../faults/job-run.js';
import type { Verdict } from '../faults/kafka-proxy.js';
import { TopicTail } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';

const partitions = 2;
const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, options: JobRunOptions = {}): Promise<JobRun> {
  const run = await JobRun.create(name, { partitions, ...options });
  runs.push(run);
  return run;
}

/** An instance with a state directory of its own. */
function settled(run: JobRun, name: string): { readonly instance: JobProcess; readonly folder: string } {
  const stateDir = join(run.folder, name);
  return { instance: run.instance(name, undefined, { stateDir }), folder: join(stateDir, run.applicationId) };
}

/** Runs the instance on what the input holds, and ends it in good order. */
async function workThrough(run: JobRun, instance: JobProcess): Promise<void> {
  instance.start();
  await instance.untilState('running');
  expect(await run.differences()).toEqual([]);
  await instance.close();
  expect(instance.errors).toEqual([]);
}

/** The restores of the stores that are compared with the model. */
const restoresOf = (instance: JobProcess): JobProcess['restored'] =>
  instance.restored.filter(({ store }) => (stores as readonly string[]).includes(store));

const sumOfRestored = (instance: JobProcess): number => restoresOf(instance).reduce((sum, { recordsRestored }) => sum + recordsRestored, 0);

describe('restore', () => {
  it('after kill -9 reads only the tail of the changelog', async () => {
    const run = await begin('tail', { keys: 3000 });
    const { instance, folder } = settled(run, 'only');
    instance.start();
    await instance.untilState('running');
    await run.input.send(12_000);
    await until(
      'the job has caught up',
      () => run.output.isComplete(),
      60_000,
      () => run.story(),
    );
    run.input.start(200);
    await everyTaskIsWritten(folder);
    await instance.kill();
    await run.input.stop();

    instance.restored.length = 0;
    instance.start();
    expect(await run.differences()).toEqual([]);
    await instance.close();
    expect(restoresOf(instance)).toHaveLength(stores.length * partitions);
    expect(restoresOf(instance).map(({ whole }) => whole)).not.toContain(true);
    expect(sumOfRestored(instance)).toBeLessThan(0.2 * 3 * 12_000);
    expect(await stateDifferences(run, folder)).toEqual([]);
    expect(instance.errors).toEqual([]);
  });

  it('after an end in good order reads nothing', async () => {
    const run = await begin('nothing-to-restore');
    const { instance } = settled(run, 'only');
    await run.input.send(1000);
    await workThrough(run, instance);
    instance.restored.length = 0;
    await run.input.send(1000);
    await workThrough(run, instance);
    expect(restoresOf(instance)).toHaveLength(stores.length * partitions);
    expect(sumOfRestored(instance)).toBe(0);
  });

  it('on another machine reads the changelog whole', async () => {
    const run = await begin('whole');
    await run.input.send(1000);
    await workThrough(run, settled(run, 'first').instance);
    const { instance, folder } = settled(run, 'second');
    await run.input.send(1000);
    await workThrough(run, instance);
    expect(restoresOf(instance).map(({ whole }) => whole)).not.toContain(false);
    expect(await stateDifferences(run, folder)).toEqual([]);
  });

  it('starts over, and says so, when the changelog’s beginning has moved past the local store', async () => {
    const run = await begin('tail-gone');
    const [away, other] = [settled(run, 'away'), settled(run, 'other')];
    await run.input.send(600);
    await workThrough(run, away.instance);
    for (let round = 0; round < 3; round++) {
      await run.input.send(600);
      await workThrough(run, other.instance);
    }
    for (const store of stores) await forgetTheOld(run, `${run.applicationId}-${store}-changelog`);

    away.instance.restored.length = 0;
    await run.input.send(600);
    await workThrough(run, away.instance);
    expect(restoresOf(away.instance).map(({ whole }) => whole)).not.toContain(false);
    expect(away.instance.log.join('\n')).toContain('no longer holds offset');
    expect(await stateDifferences(run, away.folder)).toEqual([]);
  });

  it('starts over when the changelog’s beginning moves while it is read', async () => {
    const run = await begin('moves-on');
    await run.input.send(600);
    await workThrough(run, settled(run, 'first').instance);
    await run.input.send(600);
    await workThrough(run, settled(run, 'second').instance);
    const { instance, proxy } = await run.proxied('late');
    let moved: Promise<void> | null = null;
    proxy.onRequest = async ({ apiKey, clientId }): Promise<Verdict> => {
      if (apiKey === ApiKeys.fetch && clientId.endsWith('-restore')) {
        moved ??= Promise.all(stores.map((store) => forgetTheOld(run, `${run.applicationId}-${store}-changelog`))).then(() => undefined);
        await moved;
      }
      return 'pass';
    };
    await run.input.send(600);
    await workThrough(run, instance);
    expect(moved).not.toBeNull();
  });

  it('starts over, and says so, when the changelog is another topic of the same name', async () => {
    const run = await begin('changelog-made-again');
    const { instance } = settled(run, 'only');
    await run.input.send(600);
    await workThrough(run, instance);
    await run.port.admin.deleteTopics(stores.map((store) => `${run.applicationId}-${store}-changelog`));
    instance.restored.length = 0;
    instance.start();
    await instance.untilState('running');
    expect(restoresOf(instance).map(({ whole }) => whole)).not.toContain(false);
    expect(sumOfRestored(instance)).toBe(0);
    expect(instance.log.join('\n')).toContain('the changelog is another one');
    await instance.close();
  });

  it('starts over, and says so, when a database is damaged', async () => {
    const run = await begin('damaged');
    const { instance, folder } = settled(run, 'only');
    await run.input.send(600);
    await workThrough(run, instance);
    const database = join(folder, 'tasks', '0_0', 'db');
    for (const file of await readdir(database))
      if (/^(MANIFEST|CURRENT)/.test(file)) await writeFile(join(database, file), 'no such thing');
    instance.restored.length = 0;
    await run.input.send(600);
    await workThrough(run, instance);
    const wholes = new Map(instance.restored.map(({ taskId, whole }) => [taskId, whole]));
    expect(wholes).toEqual(
      new Map([
        ['0_0', true],
        ['0_1', false],
        ['1_0', false],
        ['1_1', false],
      ]),
    );
    expect(instance.log.join('\n')).toContain('could not be read');
    expect(await stateDifferences(run, folder)).toEqual([]);
  });

  it('starts over, and says so, when the database is that of another app', async () => {
    const [run, stranger] = [await begin('host'), await begin('stranger')];
    const [own, foreign] = [settled(run, 'only'), settled(stranger, 'only')];
    for (const [each, { instance }] of [
      [run, own],
      [stranger, foreign],
    ] as const) {
      await each.input.send(each === run ? 600 : 800);
      await workThrough(each, instance);
    }
    await rm(join(own.folder, 'tasks'), { recursive: true });
    await cp(join(foreign.folder, 'tasks'), join(own.folder, 'tasks'), { recursive: true });
    own.instance.restored.length = 0;
    await run.input.send(600);
    await workThrough(run, own.instance);
    expect(restoresOf(own.instance).map(({ whole }) => whole)).not.toContain(false);
    expect(own.instance.log.join('\n')).toContain('the changelog is another one');
    expect(await stateDifferences(run, own.folder)).toEqual([]);
  });

  it('a state directory in use is MILL_STORE_DIRECTORY_LOCKED, and its owner goes on', async () => {
    const run = await begin('locked');
    const { instance: owner } = settled(run, 'shared');
    const { instance: intruder } = settled(run, 'shared');
    owner.start();
    await owner.untilState('running');
    intruder.start();
    await until(
      'the intruder has ended',
      () => !intruder.isAlive,
      30_000,
      () => run.story(),
    );
    expect(intruder.errors.map(({ code }) => code)).toEqual(['MILL_STORE_DIRECTORY_LOCKED']);
    await run.input.send(200);
    expect(await run.differences()).toEqual([]);
    await owner.close();
  });
});

/** Every task's database is written twice: what was committed before lies on the disk after it. */
async function everyTaskIsWritten(folder: string): Promise<void> {
  const writes = new Map<string, number>();
  const watchers = (await readdir(join(folder, 'tasks'))).map((task) =>
    watch(join(folder, 'tasks', task, 'db'), () => writes.set(task, (writes.get(task) ?? 0) + 1)),
  );
  try {
    await until(
      'every database is written',
      () => watchers.length > 0 && writes.size === watchers.length && Math.min(...writes.values()) >= 2,
    );
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}

/** Deletes the records of a changelog before the oldest one that is still some key's last, as a log cleaner that also deletes might. */
async function forgetTheOld(run: JobRun, topic: string): Promise<void> {
  const last = new Map<string, { readonly partition: number; readonly offset: number }>();
  for (const { key, partition, offset } of await new TopicTail(run.port, topic).poll()) last.set(key ?? '', { partition, offset });
  const oldest = new Map<number, number>();
  for (const { partition, offset } of last.values()) oldest.set(partition, Math.min(oldest.get(partition) ?? Infinity, offset));
  const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;
  const kafka = new Kafka({ brokers: (process.env['KAFKA_BROKERS'] ?? '').split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  // A topic that is only compacted refuses to delete records.
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name: 'cleanup.policy', value: 'delete' }] }],
  });
  await admin.disconnect();
  const before = [...oldest].map(([partition, offset]) => ({ topic, partition, offset }));
  let refusal: unknown = null;
  const forgotten = (): Promise<boolean> =>
    run.port.admin.deleteRecords(before).then(
      () => true,
      (error: unknown) => {
        // The broker takes a moment to know of the new policy.
        refusal = error;
        return false;
      },
    );
  await until(`the old records of ${topic} are deleted`, forgotten, 30_000, () => String(refusal));
}
