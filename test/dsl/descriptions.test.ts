/** `describe()` gives, character for character, the text that Kafka Streams 4.4.0 gives for the same topology. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { describedTopologies } from './described-topologies.js';

const file = new URL('../../conformance/cases/kafka-streams/topology-descriptions.json', import.meta.url);
const { rows } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly rows: readonly { readonly topology: string; readonly description: string }[];
};

describe('descriptions as of Kafka Streams', () => {
  for (const { topology, description } of rows) {
    it(topology, () => {
      const builder = new StreamsBuilder();
      describedTopologies[topology]!(builder);
      expect(builder.build().describe()).toBe(description);
    });
  }

  it('every topology is in the recorded cases', () => {
    expect(Object.keys(describedTopologies).sort()).toEqual(rows.map(({ topology }) => topology).sort());
  });
});
