import type { Topology, TopicRef } from '../topology/nodes.js';

/** Topics that the topology's sub-topologies read (global tables apart), and whether some are chosen by pattern. */
export function sourceTopicsOf(topology: Topology): { readonly topics: readonly TopicRef[]; readonly hasPatterns: boolean } {
  const topics = new Map<string, TopicRef>();
  let hasPatterns = false;
  for (const sub of topology.subTopologies) {
    for (const topic of sub.sourceTopics) topics.set(`${topic.internal}:${topic.name}`, topic);
    if (sub.sourcePatterns.length > 0) hasPatterns = true;
  }
  return { topics: [...topics.values()], hasPatterns };
}
