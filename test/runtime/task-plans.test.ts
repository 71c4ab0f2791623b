import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { TaskPlans } from '../../src/runtime/task-plans.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Topology } from '../../src/topology/nodes.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** `orders` joined with the table `users`, counted by a new key. */
function joined(): Topology {
  const builder = new StreamsBuilder();
  const users = builder.table('users', { ...text, offsetReset: 'latest', materialized: { storeName: 'users' } });
  builder
    .stream('orders', text)
    .join(users, (order) => order, { valueSerde: serdes.string })
    .groupBy((value) => value, { name: 'by-value', keySerde: serdes.string })
    .count({ materialized: { storeName: 'counts' } });
  return builder.build();
}

const topics = new Map([
  ['orders', 2],
  ['users', 2],
  ['app-users-changelog', 2],
  ['app-by-value-repartition', 3],
  ['app-counts-changelog', 3],
]);

function portOf(counts: ReadonlyMap<string, number>): KafkaPort {
  return {
    metadata: async (names: readonly string[] | 'all') => ({
      clusterId: 'c',
      controllerId: 0,
      brokers: [],
      topics: new Map(
        (names === 'all' ? [...counts.keys()] : names).map((name) => {
          const partitions = Array.from({ length: counts.get(name) ?? 0 }, (_, partition) => ({
            partition,
            leader: 0,
            leaderEpoch: 0,
            errorCode: 0,
          }));
          return [
            name,
            { name, topicId: `id-${name}`, isInternal: name.startsWith('__'), errorCode: counts.has(name) ? 0 : 3, partitions },
          ];
        }),
      ),
    }),
  } as unknown as KafkaPort;
}

const read = (topology: Topology, changes: ReadonlyMap<string, number | null> = new Map()): Promise<TaskPlans> => {
  const counts = new Map<string, number>();
  for (const [name, count] of [...topics, ...changes])
    if (count === null) counts.delete(name);
    else counts.set(name, count);
  return TaskPlans.read('app', topology, portOf(counts));
};

describe('the tasks of an app', () => {
  it('are a sub-topology times the partitions of what it reads', async () => {
    const plans = await read(joined());
    expect(
      plans.specs.map(({ task, inputs }) => [`${task.subTopology}_${task.partition}`, inputs.map(({ topic }) => topic).sort()]),
    ).toEqual([
      ['0_0', ['orders', 'users']],
      ['0_1', ['orders', 'users']],
      ['1_0', ['app-by-value-repartition']],
      ['1_1', ['app-by-value-repartition']],
      ['1_2', ['app-by-value-repartition']],
    ]);
    expect(plans.sourceTopics.sort()).toEqual(['app-by-value-repartition', 'orders', 'users']);
  });

  it('have their own partition of each changelog, with the topic’s id', async () => {
    const plans = await read(joined());
    expect(plans.plan('1_2').changelogs).toEqual([
      { store: 'counts', topic: 'app-counts-changelog', partition: 2, topicId: 'id-app-counts-changelog', isSourceTopic: false },
    ]);
    expect(plans.plan('1_2').stores.map(({ name }) => name)).toEqual(['counts']);
    expect(plans.plan('0_1').topicOf('by-value-repartition', true)).toBe('app-by-value-repartition');
  });

  it('carry each source’s own reset policy', async () => {
    const plans = await read(joined());
    expect(
      plans
        .plan('0_1')
        .inputs.map(({ topic, partition, offsetReset }) => [topic, partition, offsetReset])
        .sort(),
    ).toEqual([
      ['orders', 1, null],
      ['users', 1, 'latest'],
    ]);
    expect([plans.offsetReset('users'), plans.offsetReset('orders'), plans.offsetReset('strange')]).toEqual(['latest', null, null]);
  });

  it('of a pattern read what matches it', async () => {
    const builder = new StreamsBuilder();
    builder.stream(/.*eu-.*/, text).to('out', text);
    const plans = await read(
      builder.build(),
      new Map([
        ['eu-1', 1],
        ['eu-2', 2],
        ['__eu-internal', 1],
      ]),
    );
    expect(plans.sourceTopics.sort()).toEqual(['eu-1', 'eu-2']);
    expect(plans.plan('0_1').inputs.map(({ topic }) => topic)).toEqual(['eu-2']);
  });

  it('are compared by what they read', async () => {
    const plans = await read(joined());
    expect(plans.equals(await read(joined()))).toBe(true);
    const other = new Map([
      ['app-by-value-repartition', 4],
      ['app-counts-changelog', 4],
    ]);
    expect(plans.equals(await read(joined(), other))).toBe(false);
  });
});

describe('faults', () => {
  it('of missing source topics name them all', async () => {
    await expect(
      read(
        joined(),
        new Map([
          ['orders', null],
          ['users', null],
        ]),
      ),
    ).rejects.toMatchObject({
      code: 'MILL_TOPIC_MISSING',
      details: { topics: expect.arrayContaining(['orders', 'users']) },
    });
  });

  it('of unequal partition counts are found', async () => {
    await expect(read(joined(), new Map([['users', 3]]))).rejects.toMatchObject({ code: 'MILL_TOPOLOGY_NOT_COPARTITIONED' });
  });

  it('of unequal partition counts are found among what a pattern matches, too', async () => {
    const builder = new StreamsBuilder();
    builder.stream(/eu-.*/, text).join(builder.table('users', text), (order) => order, { valueSerde: serdes.string });
    const topology = builder.build();
    await expect(read(topology, new Map([['eu-1', 2]]))).resolves.toBeInstanceOf(TaskPlans);
    const unequal = new Map([
      ['eu-1', 2],
      ['eu-2', 3],
    ]);
    await expect(read(topology, unequal)).rejects.toMatchObject({
      code: 'MILL_TOPOLOGY_NOT_COPARTITIONED',
      details: { topics: expect.objectContaining({ 'eu-2': 3 }) },
    });
  });

  it('of another count than that of the state are found, also when partitions come while the app runs', async () => {
    const grown = new Map([['app-by-value-repartition', 5]]);
    await expect(read(joined(), grown)).rejects.toMatchObject({
      code: 'MILL_TOPIC_INCOMPATIBLE',
      details: { store: 'counts', actual: 3, needed: 5, inputs: ['app-by-value-repartition'] },
    });
  });

  it('of a task that the topology does not have are ours', async () => {
    const plans = await read(joined());
    expect(() => plans.plan('9_0')).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
  });
});
