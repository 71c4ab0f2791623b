import type { SubTopology, TopicRef } from './nodes.js';
import type { TopicsMatching } from './partition-counts.js';

/** Every topic that a sub-topology reads, those of its patterns included. */
export function sourceTopicRefs(sub: SubTopology, topicsMatching: TopicsMatching): TopicRef[] {
  const matched = sub.sourcePatterns.flatMap((pattern) => topicsMatching(pattern)).map((name) => ({ name, internal: false }));
  return [...sub.sourceTopics, ...matched];
}
