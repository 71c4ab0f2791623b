/**
 * `describe()` gives the text that Kafka Streams 4.4.0 gives for the same topology. Only the order within a list of neighbours is left out of the
 * comparison: Java's depends on the hash order in which a node's neighbours were counted.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { describedTopologies } from './described-topologies.js';

const file = new URL('./kafka-streams-descriptions.json', import.meta.url);
const { rows } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly rows: readonly { readonly topology: string; readonly description: string }[];
};

describe('descriptions as of Kafka Streams', () => {
  for (const { topology, description } of rows) {
    it(topology, () => {
      const builder = new StreamsBuilder();
      describedTopologies[topology]!(builder);
      expect(withSortedNeighbours(builder.build().describe())).toBe(withSortedNeighbours(description));
    });
  }

  it('every topology is in the recorded cases', () => {
    expect(Object.keys(describedTopologies).sort()).toEqual(rows.map(({ topology }) => topology).sort());
  });
});

function withSortedNeighbours(text: string): string {
  return text.replace(/(?<=(?:-->|<--) ).+/g, (names) => names.split(', ').sort().join(', '));
}
