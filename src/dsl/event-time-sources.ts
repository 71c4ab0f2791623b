/** Whether event time reaches an operator: each stream that its records come from must say something about it. */
import { MillraceError } from '../errors.js';
import { above } from './graph/event-time-flow.js';
import type { StreamGraph } from './graph/stream-graph.js';

/**
 * Watermarks pass through the repartition topics of streams. Tables that a stream is joined with need not say anything.
 *
 * @throws MILL_TOPOLOGY_INVALID naming the source that says nothing, or the internal topic through which event time does not pass
 */
export function requireWatermarks(graph: StreamGraph, sources: readonly string[], operator: string): void {
  const links = new Map([...graph.links.values()].map((link) => [link.node.name, link]));
  const origins = sources.flatMap((name) => {
    const link = links.get(name);
    if (link === undefined) return [];
    return link.node.kind === 'repartition' ? above(link).map(({ node }) => node) : [link.node];
  });
  for (const node of origins) {
    if (node.kind === 'streamSource' && (node.source.watermarks ?? null) === null) {
      throw silent(operator, node.name, `its source ${node.name} has no \`watermarks\``);
    }
    if (node.kind === 'internalSource' || node.kind === 'tableRepartition') {
      const why = `its records come through the internal topic ${node.topic} of a table, and event time does not pass through those. Use a stream's topic, or processing time`;
      throw silent(operator, node.name, why);
    }
  }
  if (!origins.some((node) => node.kind === 'streamSource'))
    throw silent(operator, sources[0] ?? '', `its records come from no stream: ${sources.join(', ')}`);
}

function silent(operator: string, source: string, why: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', `${operator} works in event time, but ${why}.`, { details: { operator, source } });
}
