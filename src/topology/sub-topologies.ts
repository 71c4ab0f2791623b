/** Cuts a topology into its sub-topologies: parts that meet only through topics, so that each can run in tasks of its own. */
import type { SubTopology, TopicRef, TopologyNode } from './nodes.js';

/**
 * @param nodes in topological order; each sub-topology keeps that order
 * @param idOf the number of the sub-topology a node belongs to
 */
export function subTopologiesOf(nodes: ReadonlyMap<string, TopologyNode>, idOf: (node: string) => number): SubTopology[] {
  const parts = new Map<number, TopologyNode[]>();
  for (const node of nodes.values()) {
    const id = idOf(node.name);
    const part = parts.get(id);
    if (part === undefined) parts.set(id, [node]);
    else part.push(node);
  }
  return [...parts].sort(([a], [b]) => a - b).map(([id, part]) => subTopology(id, part));
}

function subTopology(id: number, part: readonly TopologyNode[]): SubTopology {
  const sourceTopics: TopicRef[] = [];
  const sourcePatterns: RegExp[] = [];
  const sinkTopics = new Map<string, TopicRef>();
  const stores = new Set<string>();
  for (const node of part) {
    if (node.kind === 'source') {
      sourceTopics.push(...node.topics);
      if (node.pattern !== null) sourcePatterns.push(node.pattern);
    } else if (node.kind === 'processor') {
      for (const store of node.stores) stores.add(store);
    } else if (typeof node.topic !== 'function') {
      sinkTopics.set(node.topic.name, node.topic);
    }
  }
  return Object.freeze({
    id,
    nodes: Object.freeze(part.map(({ name }) => name)),
    sourceTopics: Object.freeze(sourceTopics),
    sourcePatterns: Object.freeze(sourcePatterns),
    sinkTopics: Object.freeze([...sinkTopics.values()]),
    stores: Object.freeze([...stores]),
  });
}
