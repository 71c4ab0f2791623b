/** The optimisation `singleStoreSelfJoin`: a join of a stream with itself needs one store and one operator instead of two of each. */
import type { GraphNode } from './graph-node.js';
import type { StreamGraph } from './stream-graph.js';
import type { StreamStreamJoinNode } from './stream-stream-join-node.js';

export interface SelfJoins {
  readonly joins: ReadonlySet<StreamStreamJoinNode>;
  /** Nodes that are then left out. */
  readonly spared: ReadonlySet<GraphNode>;
}

/** @param standIns for each stream source that is not written, the one in its place */
export function selfJoins(graph: StreamGraph, standIns: ReadonlyMap<GraphNode, GraphNode>): SelfJoins {
  const joins = new Set<StreamStreamJoinNode>();
  const spared = new Set<GraphNode>();
  for (const { node, parents } of graph.links.values()) {
    if (node.kind !== 'streamStreamJoin') continue;
    const streams = new Set([...parents].map((parent) => standIns.get(parent.node) ?? parent.node));
    if (streams.size > 1) continue;
    joins.add(node);
    spared.add(node.right.windowed);
  }
  return { joins, spared };
}
