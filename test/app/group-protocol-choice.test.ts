import { describe, expect, it } from '@jest/globals';
import { chooseGroupProtocol } from '../../src/app/group-protocol-choice.js';
import { StreamsBuilder } from '../../src/index.js';
import type { KafkaAdmin } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { Topology } from '../../src/topology/nodes.js';

type Protocol = 'classic' | 'streams' | 'auto';

function topologyOf(source: string | RegExp): Topology {
  const builder = new StreamsBuilder();
  builder.stream(source).to('out');
  return builder.build();
}

const plain = topologyOf('in');
const byPattern = topologyOf(/^in-/);

function choose(groupProtocol: Protocol, cluster: { streams?: boolean; group?: 'none' | 'classic' | 'streams'; topology?: Topology } = {}) {
  const { streams = true, group = 'none', topology = plain } = cluster;
  const admin = {
    describeStreamsGroup: async () => (group === 'streams' ? { state: 'Stable', groupEpoch: 1, members: [] } : null),
    describeGroup: async () => (group === 'classic' ? { state: 'Empty', members: [] } : null),
  } as unknown as KafkaAdmin;
  return chooseGroupProtocol({
    port: { streamsGroups: streams, admin },
    topology,
    config: { applicationId: 'app', groupProtocol, logger: silentLogger },
  });
}

describe('the protocol of the group', () => {
  it('is classic unless something else is asked for', async () => {
    expect(await choose('classic', { group: 'streams' })).toBe('classic');
  });

  it('streams is had or refused', async () => {
    expect(await choose('streams', { group: 'classic' })).toBe('streams');
    await expect(choose('streams', { streams: false })).rejects.toMatchObject({ code: 'MILL_BROKER_TOO_OLD' });
    await expect(choose('streams', { topology: byPattern })).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });

  it('auto keeps what the group is, and begins a new one as a streams group where it can', async () => {
    expect(await choose('auto')).toBe('streams');
    expect(await choose('auto', { group: 'streams' })).toBe('streams');
    expect(await choose('auto', { group: 'classic' })).toBe('classic');
    expect(await choose('auto', { streams: false })).toBe('classic');
    expect(await choose('auto', { topology: byPattern })).toBe('classic');
  });
});
