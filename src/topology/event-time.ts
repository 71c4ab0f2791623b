/** Where event time comes from in a topology: sources with a watermark strategy, and repartition topics that carry watermarks from one sub-topology to the next. */
import type { SubTopology, Topology } from './nodes.js';

/** Whether the tasks of a sub-topology have watermarks. */
export function hasEventTime(topology: Topology, sub: SubTopology): boolean {
  return sub.nodes.some((name) => {
    const node = topology.nodes.get(name);
    if (node?.kind !== 'source') return false;
    return node.watermarks !== null || node.topics.some((topic) => topic.internal && watermarkWriters(topology, topic.name).length > 0);
  });
}

/** The sub-topologies whose tasks send their watermarks through a repartition topic; none when it carries no watermarks. */
export function watermarkWriters(topology: Topology, repartitionTopic: string): SubTopology[] {
  if (topology.repartitionTopics.get(repartitionTopic)?.carriesWatermarks !== true) return [];
  return topology.subTopologies.filter(
    (sub) => sub.sinkTopics.some(({ name, internal }) => internal && name === repartitionTopic) && hasEventTime(topology, sub),
  );
}
