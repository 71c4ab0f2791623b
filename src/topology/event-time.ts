/** Where event time comes from in a topology: sources with a watermark strategy, and repartition topics that carry watermarks from one sub-topology to the next. */
import type { SourceNode, SubTopology, Topology } from './nodes.js';

/** The sources of a sub-topology that say something about event time. */
export function eventTimeSources(topology: Topology, sub: SubTopology): SourceNode[] {
  return sub.nodes.flatMap((name) => {
    const node = topology.nodes.get(name);
    if (node?.kind !== 'source') return [];
    const isTold = node.topics.some((topic) => topic.internal && watermarkWriters(topology, topic.name).length > 0);
    return isTold || node.watermarks !== null ? [node] : [];
  });
}

/** The sub-topologies whose tasks send their watermarks through a repartition topic; none when it carries no watermarks. */
export function watermarkWriters(topology: Topology, repartitionTopic: string): SubTopology[] {
  if (topology.repartitionTopics.get(repartitionTopic)?.carriesWatermarks !== true) return [];
  return topology.subTopologies.filter(
    (sub) =>
      sub.sinkTopics.some(({ name, internal }) => internal && name === repartitionTopic) && eventTimeSources(topology, sub).length > 0,
  );
}
