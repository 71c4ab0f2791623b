import { describe, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { streamsGroupTopology } from '../../src/runtime/streams-group-topology.js';
import type { Topology } from '../../src/topology/nodes.js';

const { string } = serdes;

function joined(): Topology {
  const builder = new StreamsBuilder();
  const consumed = { keySerde: string, valueSerde: string };
  const users = builder.table('users', consumed);
  const named = builder.stream('orders', consumed).join(users, (order, user) => `${order} ${user}`);
  named
    .groupBy((_, value) => value, { keySerde: string, valueSerde: string, name: 'by-text' })
    .count({ materialized: { storeName: 'counts' } })
    .toStream()
    .to('out', { keySerde: string });
  return builder.build();
}

describe('the topology as a broker is told it', () => {
  const told = streamsGroupTopology('app', joined(), -1);

  it('has sub-topologies with the users’ topics, and those that must have equal partition counts', () => {
    const [first] = told.subTopologies;
    expect(first).toMatchObject({ id: '0', sourceTopics: ['orders', 'users'], copartitionGroups: [['orders', 'users']] });
    expect(first?.repartitionSinkTopics).toEqual(['app-by-text-repartition']);
  });

  it('has the internal topics as they are made by the app itself, with counts left to the broker', () => {
    const [, second] = told.subTopologies;
    expect(second).toMatchObject({
      id: '1',
      sourceTopics: [],
      repartitionSourceTopics: [
        {
          name: 'app-by-text-repartition',
          partitions: 0,
          replicationFactor: 0,
          configs: { 'cleanup.policy': 'delete', 'retention.ms': '-1' },
        },
      ],
      changelogTopics: [{ name: 'app-counts-changelog', partitions: 0, configs: { 'cleanup.policy': 'compact' } }],
    });
  });

  it('is the same for the same topology built again', () => {
    expect(streamsGroupTopology('app', joined(), -1)).toEqual(told);
  });
});
