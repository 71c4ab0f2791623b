import { MillraceError } from '../../errors.js';
import type { GraphNode } from './graph-node.js';
import type { GraphLink, StreamGraph } from './stream-graph.js';

/**
 * How long after its end a window of this table may still change, ms: the largest of the windowed aggregations that it comes from.
 *
 * @throws MILL_TOPOLOGY_INVALID when it comes from something else too.
 */
export function windowGraceOf(graph: StreamGraph, node: GraphNode): number {
  const link = graph.links.get(node);
  if (link === undefined) throw notWindowed(node.name);
  return graceOf(graph, link, node.name);
}

function graceOf(graph: StreamGraph, link: GraphLink, asked: string): number {
  const own = graph.windowGraces.get(link.node);
  if (own !== undefined) return own;
  if (link.parents.size === 0) throw notWindowed(asked);
  return Math.max(...[...link.parents].map((parent) => graceOf(graph, parent, asked)));
}

function notWindowed(name: string): MillraceError {
  return new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `untilWindowCloses needs a table of windows, and ${name} does not come from one alone.`,
    {
      details: { node: name },
    },
  );
}
