import type { DeserializationHandler } from '../runtime/error-policy.js';
import { failOnInvalidTimestamp } from '../time/timestamp-extractors.js';
import type { Topology } from '../topology/nodes.js';

/**
 * What keeps a source topic from being a changelog. A restore takes the topic's records as they are, so they must be just what the table would make of
 * them: nothing skipped, no other times, no other bytes.
 */
export function reusedSourceTopicFaults(topology: Topology, deserialization: DeserializationHandler): string[] {
  return [...topology.stores.values()].flatMap(({ spec, sourceTopic }) => {
    if (sourceTopic === null) return [];
    const source = [...topology.nodes.values()].find(
      (node) => node.kind === 'source' && node.topics.some(({ name }) => name === sourceTopic),
    );
    if (source?.kind !== 'source') return [];
    const reasons: string[] = [];
    if (deserialization !== 'fail')
      reasons.push('a deserializationHandler other than "fail" skips records that a restore would bring back');
    if (source.timestampExtractor !== null && source.timestampExtractor !== failOnInvalidTimestamp)
      reasons.push('its timestampExtractor gives times that a restore would not know');
    if (spec.keySerde !== source.keySerde || spec.valueSerde !== source.valueSerde)
      reasons.push('the store has other serdes than the topic');
    return reasons.map(
      (reason) => `store ${spec.name} reuses its source topic ${sourceTopic} as changelog (reuseSourceTopics), but ${reason}`,
    );
  });
}
