/** Event time on its way through the graph: from sources with watermarks, through repartition topics, to the operators that work in it. */
import type { GraphLink } from './stream-graph.js';

/** Whether an operator below works in event time, further repartitions in between included. */
export function leadsToEventTime(link: GraphLink): boolean {
  return below(link).some(({ node }) => 'usesEventTime' in node && node.usesEventTime);
}

/** Whether a source above has watermarks. */
export function comesFromWatermarks(link: GraphLink): boolean {
  return above(link).some(
    ({ node }) => (node.kind === 'streamSource' || node.kind === 'tableSource') && (node.source.watermarks ?? null) !== null,
  );
}

/** Everything that a node's records may have come through, itself left out. */
export function above(link: GraphLink): GraphLink[] {
  return reached(link, ({ parents }) => parents);
}

/** Everything that a node's records may go on to, itself left out. */
export function below(link: GraphLink): GraphLink[] {
  return reached(link, ({ children }) => children);
}

function reached(link: GraphLink, next: (link: GraphLink) => ReadonlySet<GraphLink>): GraphLink[] {
  const found = new Set(next(link));
  // A set that grows while it is walked visits what was added.
  for (const one of found) for (const further of next(one)) found.add(further);
  return [...found];
}
