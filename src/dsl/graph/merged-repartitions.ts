/**
 * The optimisation `mergeRepartitions`: all repartitions of a stream whose keys have changed become one, right behind the operator that changed them.
 *
 * The graph is not touched: the answer is a copy of its links with the repartitions in their new places. A repartition below an operator that changes
 * values stays where it is, since the records on the topic would be others; so does one that was asked for by `repartition()`. The one topic has the
 * name of the first.
 */
import { newRepartition } from '../repartition.js';
import type { GraphNode } from './graph-node.js';
import type { RepartitionNode } from './repartition-node.js';
import type { GraphLink, StreamGraph } from './stream-graph.js';

type Repartition = GraphLink & { readonly node: RepartitionNode };

export interface MergedRepartitions {
  readonly links: ReadonlyMap<GraphNode, GraphLink>;
  /** Sources that are gone, and what is read in their place: for co-partitioning. */
  readonly renamed: ReadonlyMap<string, string>;
}

export function mergeRepartitions(graph: StreamGraph): MergedRepartitions {
  const links = copyOf(graph.links);
  const renamed = new Map<string, string>();
  for (const [changer, repartitions] of byKeyChanger(graph, links)) {
    const merged: GraphLink = {
      node: mergedNode(graph, repartitions),
      parents: new Set(),
      children: new Set(),
      priority: changer.priority,
    };
    for (const repartition of repartitions) {
      const first = childOnTheWay(changer, repartition);
      disconnect(changer, first);
      connect(merged, first);
      for (const child of [...repartition.children]) {
        disconnect(repartition, child);
        for (const parent of repartition.parents) connect(parent, child);
      }
      for (const parent of [...repartition.parents]) disconnect(parent, repartition);
      links.delete(repartition.node);
      renamed.set(repartition.node.name, merged.node.name);
    }
    connect(changer, merged);
    links.set(merged.node, merged);
  }
  return { links, renamed };
}

/** For each operator that changes keys (or merges streams of which some had their keys changed): the repartitions that can move up to it. */
function byKeyChanger(graph: StreamGraph, links: ReadonlyMap<GraphNode, GraphLink>): Map<GraphLink, Repartition[]> {
  const found = new Map<GraphLink, Repartition[]>();
  for (const link of links.values()) {
    if (!isRepartition(link) || link.node.explicit) continue;
    const changer = keyChangerAbove(graph, link);
    if (changer === null) continue;
    found.set(changer, [...(found.get(changer) ?? []), link]);
  }
  return found;
}

function keyChangerAbove(graph: StreamGraph, repartition: GraphLink): GraphLink | null {
  for (let link = repartition; ;) {
    const [parent, ...others] = link.parents;
    if (others.length > 0) return link === repartition ? null : link;
    if (parent === undefined || graph.valueChanging.has(parent.node)) return null;
    if (graph.keyChanging.has(parent.node)) return parent;
    link = parent;
  }
}

function childOnTheWay(changer: GraphLink, repartition: GraphLink): GraphLink {
  let link = repartition;
  for (;;) {
    const [parent] = link.parents;
    if (parent === undefined || parent === changer || link.parents.has(changer)) return link;
    link = parent;
  }
}

function mergedNode(graph: StreamGraph, repartitions: readonly Repartition[]): RepartitionNode {
  const nodes = repartitions.map(({ node }) => node);
  return newRepartition(graph, {
    namedAfter: nodes[0]?.topic ?? '',
    keySerde: nodes.find(({ keySerde }) => keySerde !== null)?.keySerde ?? null,
    valueSerde: nodes.find(({ valueSerde }) => valueSerde !== null)?.valueSerde ?? null,
  });
}

function isRepartition(link: GraphLink): link is Repartition {
  return link.node.kind === 'repartition';
}

function copyOf(links: ReadonlyMap<GraphNode, GraphLink>): Map<GraphNode, GraphLink> {
  const copies = new Map<GraphNode, GraphLink>();
  for (const [node, { priority }] of links) copies.set(node, { node, parents: new Set(), children: new Set(), priority });
  for (const [node, { parents, children }] of links) {
    const copy = copies.get(node);
    for (const parent of parents) addCopy(copies, parent, copy?.parents);
    for (const child of children) addCopy(copies, child, copy?.children);
  }
  return copies;
}

function addCopy(copies: ReadonlyMap<GraphNode, GraphLink>, original: GraphLink, target: Set<GraphLink> | undefined): void {
  const copy = copies.get(original.node);
  if (copy !== undefined) target?.add(copy);
}

function connect(parent: GraphLink, child: GraphLink): void {
  parent.children.add(child);
  child.parents.add(parent);
}

function disconnect(parent: GraphLink, child: GraphLink): void {
  parent.children.delete(child);
  child.parents.delete(parent);
}
