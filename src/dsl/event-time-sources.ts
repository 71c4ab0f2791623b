/** Whether event time reaches an operator: each source that its records come from must say something about it. */
import { MillraceError } from '../errors.js';
import type { StreamGraph } from './graph/stream-graph.js';

/** @throws MILL_TOPOLOGY_INVALID naming the source that says nothing, or the repartition topic in between */
export function requireWatermarks(graph: StreamGraph, sources: readonly string[], operator: string): void {
  const nodes = new Map([...graph.links.keys()].map((node) => [node.name, node]));
  for (const source of sources) {
    const node = nodes.get(source);
    if (node?.kind === 'streamSource' && (node.source.watermarks ?? null) !== null) continue;
    const why =
      node?.kind === 'repartition'
        ? `its records come through the repartition topic ${node.topic}, and event time does not pass through repartition topics yet. Key the input topic as the operator needs it, or use processing time`
        : `its source ${source} has no \`watermarks\``;
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${operator} works in event time, but ${why}.`, { details: { operator, source } });
  }
}
