/** Names, sub-topologies and internal topics are those of Kafka Streams 4.4.0, so that an app can move between the two. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { changelogTopic } from '../../src/topology/task-layout.js';
import type { Topology } from '../../src/topology/nodes.js';
import { laterTopologies, namingTopologies } from './naming-topologies.js';

interface Row {
  readonly topology: string;
  readonly optimization: 'none' | 'all';
  readonly subtopologies: number;
  readonly internalTopics: readonly string[];
  readonly stores: readonly string[];
  readonly changelogTopics: readonly string[];
  readonly nodes: readonly string[];
}

const file = new URL('../../conformance/cases/kafka-streams/naming.json', import.meta.url);
const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { readonly rows: readonly Row[] };
const plain = rows.filter((row) => row.optimization === 'none');

describe('names as in Kafka Streams', () => {
  for (const row of plain.filter(({ topology }) => topology in namingTopologies)) {
    it(row.topology, () => {
      const builder = new StreamsBuilder();
      namingTopologies[row.topology]!(builder);
      expect(namesOf(builder.build())).toEqual({
        nodes: row.nodes,
        subtopologies: row.subtopologies,
        internalTopics: row.internalTopics,
        stores: row.stores,
        changelogTopics: row.changelogTopics,
      });
    });
  }

  it('every row without optimisation is either run here or listed as later', () => {
    expect(plain.map(({ topology }) => topology).sort()).toEqual([...Object.keys(namingTopologies), ...laterTopologies].sort());
  });

  it('the rows with optimisation are those topologies again, and come with the optimiser', () => {
    const optimised = rows.filter((row) => row.optimization === 'all').map(({ topology }) => topology);
    expect(optimised.sort()).toEqual(plain.map(({ topology }) => topology).sort());
  });
});

function namesOf(topology: Topology): Omit<Row, 'topology' | 'optimization'> {
  const text = topology.describe();
  return {
    nodes: [...text.matchAll(/(?:Source|Processor|Sink): (\S+)/g)].map((match) => match[1]!),
    subtopologies: [...text.matchAll(/Sub-topology: /g)].length,
    internalTopics: [...topology.repartitionTopics.keys()].map((name) => `app-${name}`).sort(),
    stores: [...topology.stores.keys(), ...topology.globalStores.keys()].sort(),
    changelogTopics: [...topology.stores.values()].flatMap((store) => changelogTopic('app', store) ?? []).sort(),
  };
}
