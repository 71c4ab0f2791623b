/** Batch mode: where results are told once a key, at the end of the input. */
import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import { below } from './event-time-flow.js';
import type { GraphNode } from './graph-node.js';
import type { GraphLink } from './stream-graph.js';

export interface LastResults {
  readonly supplier: OperatorSupplier;
  readonly store: StoreSpec;
}

/**
 * The nodes that tell last results only. What is told at the end comes late, and not in the order of time, for whatever has state or looks at time: so results are held back just
 * before they leave for topics, and everything on the way there is told as in streaming.
 */
export function lastResultNodes(links: Iterable<GraphLink>): ReadonlySet<GraphNode> {
  const nodes = new Set<GraphNode>();
  for (const link of links) {
    const { node } = link;
    if ((node.kind === 'operator' || node.kind === 'stateful') && node.lastResults !== null && below(link).every(isStep)) nodes.add(node);
  }
  return nodes;
}

export function writeLastResults(
  name: string,
  { supplier, store }: LastResults,
  builder: TopologyBuilder,
  parents: readonly string[],
): void {
  builder.addOperator(name, supplier, parents);
  builder.addStateStore(store, { processors: [name] });
}

/** Of the node behind `name`, which has what `name` gives. */
export function nameOfLastResults(name: string): string {
  return `${name}-last`;
}

/** What it makes of a record does not depend on when it comes. */
function isStep({ node }: GraphLink): boolean {
  switch (node.kind) {
    case 'operator':
      return node.stores.length === 0;
    case 'async':
    case 'repartition':
    case 'sink':
      return true;
    default:
      return false;
  }
}
