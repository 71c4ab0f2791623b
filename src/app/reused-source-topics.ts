import { failOnInvalidTimestamp } from '../time/timestamp-extractors.js';
import type { Topology } from '../topology/nodes.js';
import type { ResolvedConfig } from './config.js';

/**
 * What keeps a source topic from being a changelog. A restore takes the topic's records as they are, so they must be just what the table would make of
 * them: nothing skipped, no other times, no other bytes.
 */
export function reusedSourceTopicFaults(
  topology: Topology,
  config: Pick<ResolvedConfig, 'deserializationHandler' | 'defaultTimestampExtractor'>,
): string[] {
  return [...topology.stores.values()].flatMap(({ spec, sourceTopic }) => {
    if (sourceTopic === null) return [];
    const source = [...topology.nodes.values()].find(
      (node) => node.kind === 'source' && node.topics.some(({ name }) => name === sourceTopic),
    );
    if (source?.kind !== 'source') return [];
    const reasons: string[] = [];
    if (config.deserializationHandler !== 'fail')
      reasons.push('a deserializationHandler other than "fail" skips records that a restore would bring back');
    const extractor = source.timestampExtractor ?? config.defaultTimestampExtractor ?? failOnInvalidTimestamp;
    if (extractor !== failOnInvalidTimestamp) {
      const whose = source.timestampExtractor === null ? 'the defaultTimestampExtractor' : 'its timestampExtractor';
      reasons.push(`${whose} gives times that a restore would not know`);
    }
    if (spec.keySerde !== source.keySerde || spec.valueSerde !== source.valueSerde)
      reasons.push('the store has other serdes than the topic');
    return reasons.map(
      (reason) => `store ${spec.name} reuses its source topic ${sourceTopic} as changelog (reuseSourceTopics), but ${reason}`,
    );
  });
}
