/**
 * The text form of a topology, in the format of Kafka Streams' `TopologyDescription#toString`, so that tools which draw that text draw ours.
 *
 * Nodes of a sub-topology stand by the size of the tree below them, largest first, then by name, and so do the neighbours of a node. Java's order
 * within a list (topics, stores, neighbours) depends on hashes; ours does not, so that equal topologies have equal texts.
 */
import type { TopologyParts } from './built-topology.js';
import type { GlobalStoreNode, SinkNode, SubTopology, TopologyNode } from './nodes.js';

export function describeTopology(topology: TopologyParts): string {
  const blocks = new Map<number, string>();
  for (const sub of topology.subTopologies) blocks.set(sub.id, describeSubTopology(sub, topology.nodes));
  for (const store of topology.globalStores.values()) blocks.set(store.id, describeGlobalStore(store));
  const inOrder = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => `  ${block}`);
  return `Topologies:\n ${inOrder.join('')}`;
}

function describeSubTopology(sub: SubTopology, nodes: ReadonlyMap<string, TopologyNode>): string {
  const order = treeOrder(sub, nodes);
  const lines = order.map((node) => `    ${describeNode(node, order)}\n`);
  return `Sub-topology: ${sub.id}\n${lines.join('')}\n`;
}

/** The nodes of `sub` by size of the tree below each (a node counts once for every path to it), then by name. */
function treeOrder(sub: SubTopology, nodes: ReadonlyMap<string, TopologyNode>): TopologyNode[] {
  const part = sub.nodes.flatMap((name) => nodes.get(name) ?? []);
  const sizes = new Map<string, number>();
  for (const node of part.toReversed()) {
    sizes.set(
      node.name,
      childrenOf(node).reduce((sum, child) => sum + (sizes.get(child) ?? 0), 1),
    );
  }
  const size = (node: TopologyNode): number => sizes.get(node.name) ?? 0;
  return part.sort((a, b) => size(b) - size(a) || (a.name < b.name ? -1 : 1));
}

function describeNode(node: TopologyNode, order: readonly TopologyNode[]): string {
  const names = (wanted: readonly string[]): string => {
    const sorted = order.filter(({ name }) => wanted.includes(name)).map(({ name }) => name);
    return sorted.length === 0 ? 'none' : sorted.join(', ');
  };
  switch (node.kind) {
    case 'source': {
      const topics = node.pattern === null ? list(node.topics.map(({ name }) => name)) : node.pattern.source;
      return `Source: ${node.name} (topics: ${topics})\n      --> ${names(node.children)}`;
    }
    case 'processor':
      return `Processor: ${node.name} (stores: ${list(node.stores)})\n      --> ${names(node.children)}\n      <-- ${names(node.parents)}`;
    case 'sink':
      return `Sink: ${node.name} (${describeSinkTopic(node)})\n      <-- ${names(node.parents)}`;
  }
}

function describeGlobalStore(store: GlobalStoreNode): string {
  return (
    `Sub-topology: ${store.id} for global store (will not generate tasks)\n` +
    `    Source: ${store.source.name} (topics: ${list([store.topic])})\n      --> ${store.processorName}\n` +
    `    Processor: ${store.processorName} (stores: ${list([store.spec.name])})\n      --> none\n      <-- ${store.source.name}\n`
  );
}

function describeSinkTopic(node: SinkNode): string {
  return typeof node.topic === 'function' ? `extractor class: ${node.topic.name || 'anonymous'}` : `topic: ${node.topic.name}`;
}

function childrenOf(node: TopologyNode): readonly string[] {
  return node.kind === 'sink' ? [] : node.children;
}

function list(names: readonly string[]): string {
  return `[${names.toSorted().join(', ')}]`;
}
