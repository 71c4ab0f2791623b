import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder, type StreamsConfig } from '../../src/index.js';
import { failureOf, Scenario, text } from '../pitfalls/scenario.js';
import { until } from './until.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let scenario: Scenario;
afterEach(() => scenario.end());

async function copying({ partitions = 1, config = {} }: { readonly partitions?: number; readonly config?: Partial<StreamsConfig> } = {}) {
  scenario = await Scenario.begin('recreated');
  const [from, to] = [await scenario.topic('in', partitions), await scenario.topic('out')];
  const builder = new StreamsBuilder();
  builder.stream(from, strings).to(to, strings);
  const topology = builder.build();
  const app = await scenario.running(topology, config);
  const write = (values: readonly string[]): Promise<void> =>
    scenario.write(
      from,
      values.map((value, index) => ({ key: 'k', value, partition: index % partitions })),
    );
  const read = async (count: number): Promise<(string | null)[]> => (await scenario.read(to, count)).map(({ value }) => text(value));
  return { app, topology, from, write, read };
}

/** The name is free for a while after the deletion is answered. */
async function deleteAndCreate(topic: string, partitions = 1): Promise<void> {
  const { admin } = scenario.port;
  await admin.deleteTopics([topic]);
  await until('the topic is there again', async () => {
    const [created] = await admin.createTopics([{ topic, partitions, replicationFactor: -1, configs: {} }]);
    return created?.errorCode === 0;
  });
  await scenario.port.metadata([topic], { refresh: true });
}

const old = ['old-0', 'old-1', 'old-2'];
/** More than the position in the old topic, which so is one in the new topic as well. */
const fresh = ['new-0', 'new-1', 'new-2', 'new-3', 'new-4'];

describe('an input topic that is deleted and created again, with more records than the old position', () => {
  it('under a running app is read from its beginning, and the log says so', async () => {
    const { app, from, write, read } = await copying();
    await write(old);
    expect(await read(3)).toEqual(old);
    await deleteAndCreate(from);
    await write(fresh);
    expect(await read(8)).toEqual([...old, ...fresh]);
    expect(scenario.logged.map(({ message }) => message)).toContainEqual(
      expect.stringContaining(`offset 3 of ${from}-0 is of a topic that was deleted and created again: reading on at earliest offset 0`),
    );
    expect(app.state).toBe('running');
  });

  it('under a running app with a task for each of its partitions, assigned one after the other, is read whole', async () => {
    const partitions = 4;
    const { app, from, write, read } = await copying({ partitions });
    const [before, after] = ['old', 'new'].map((name) => Array.from({ length: name === 'old' ? 8 : 80 }, (_, index) => `${name}-${index}`));
    await write(before!);
    expect((await read(8)).sort()).toEqual(before!.sort());
    await deleteAndCreate(from, partitions);
    await write(after!);
    expect((await read(88)).sort()).toEqual([...after!, ...before!].sort());
    expect(app.state).toBe('running');
  });

  it('while the app is down, its offsets still being there, is read from its beginning', async () => {
    const { app, topology, from, write, read } = await copying();
    await write(old);
    expect(await read(3)).toEqual(old);
    await app.close();
    const coordinator = await scenario.port.findCoordinator('group', scenario.id);
    const groupId = scenario.id;
    const partitions = [{ topic: from, partition: 0 }];
    const offsets = async () => (await scenario.port.offsetFetch(coordinator, { groupId, partitions, requireStable: true })).offsets;
    const [committed] = await offsets();
    expect(committed).toMatchObject({ offset: 3, metadata: expect.stringMatching(/"i":"[\w-]{22}"/) });
    await deleteAndCreate(from);
    await write(fresh);
    // The broker drops the offsets of a topic that is deleted. A tool that put them back, or a commit that came late, leaves them as they were.
    await until('the old offsets are dropped', async () => (await offsets())[0]?.offset === -1);
    const outside = { groupId, memberId: '', generation: -1, groupInstanceId: null };
    await scenario.port.offsetCommit(coordinator, { ...outside, offsets: [committed!] });
    await scenario.running(topology);
    expect(await read(8)).toEqual([...old, ...fresh]);
  });

  it('is an error under the policy none', async () => {
    const { app, from, write, read } = await copying();
    await write(old);
    expect(await read(3)).toEqual(old);
    await app.close();
    const builder = new StreamsBuilder();
    builder.stream(from, { ...strings, offsetReset: 'none' }).foreach(() => undefined);
    const strict = scenario.app(builder.build(), { applicationId: `${scenario.id}-strict` });
    const coordinator = await scenario.port.findCoordinator('group', `${scenario.id}-strict`);
    const group = { groupId: `${scenario.id}-strict`, memberId: '', generation: -1, groupInstanceId: null };
    const offsets = [{ topic: from, partition: 0, offset: 3, leaderEpoch: -1, metadata: null }];
    await scenario.port.offsetCommit(coordinator, { ...group, offsets });
    const failed = failureOf(strict);
    await strict.start();
    await until('it runs', () => strict.state === 'running');
    await deleteAndCreate(from);
    await write(fresh);
    expect(await failed).toMatchObject({ code: 'MILL_TOPIC_RECREATED', details: { topic: from, partition: 0, offset: 3 } });
  });
});
