/** The JSON form of a topology: plain data for dashboards and tools. Functions and serdes appear by their names. */
import type { TopologyParts } from './built-topology.js';
import type { GlobalStoreNode, StoreNode, SubTopology, TopologyNode } from './nodes.js';
import type { StoreSpec } from '../stores/store.js';

export function topologyToJson(topology: TopologyParts): object {
  return {
    subTopologies: topology.subTopologies.map((sub) => subTopologyToJson(sub, topology.nodes)),
    stores: [...topology.stores.values()].map(storeToJson),
    globalStores: [...topology.globalStores.values()].map(globalStoreToJson),
    repartitionTopics: [...topology.repartitionTopics.values()],
    copartitionGroups: topology.copartitionGroups.map((group) => group.map(({ name }) => name)),
  };
}

function subTopologyToJson(sub: SubTopology, nodes: ReadonlyMap<string, TopologyNode>): object {
  return {
    id: sub.id,
    sourceTopics: sub.sourceTopics,
    sourcePatterns: sub.sourcePatterns.map(({ source }) => source),
    sinkTopics: sub.sinkTopics,
    stores: sub.stores,
    nodes: sub.nodes.flatMap((name) => nodes.get(name) ?? []).map(nodeToJson),
  };
}

function nodeToJson(node: TopologyNode): object {
  const { kind, name } = node;
  switch (node.kind) {
    case 'source':
      return {
        kind,
        name,
        topics: node.topics.map((topic) => topic.name),
        pattern: node.pattern?.source ?? null,
        keySerde: node.keySerde?.name ?? null,
        valueSerde: node.valueSerde?.name ?? null,
        timestampExtractor: node.timestampExtractor?.name ?? null,
        offsetReset: node.offsetReset,
        children: node.children,
      };
    case 'processor':
      return { kind, name, stores: node.stores, parents: node.parents, children: node.children };
    case 'sink':
      return {
        kind,
        name,
        topic: typeof node.topic === 'function' ? null : node.topic.name,
        keySerde: node.keySerde?.name ?? null,
        valueSerde: node.valueSerde?.name ?? null,
        parents: node.parents,
      };
  }
}

function storeToJson(store: StoreNode): object {
  return { ...specToJson(store.spec), processors: store.processors, sourceTopic: store.sourceTopic };
}

function globalStoreToJson(store: GlobalStoreNode): object {
  return { id: store.id, ...specToJson(store.spec), topic: store.topic, source: store.source.name, processor: store.processorName };
}

function specToJson(spec: StoreSpec): object {
  const { name, kind, engine, logged } = spec;
  const window = spec.windowSize === undefined ? {} : { windowSize: spec.windowSize, retention: spec.retention ?? null };
  return { name, kind, engine, logged, keySerde: spec.keySerde?.name ?? null, valueSerde: spec.valueSerde?.name ?? null, ...window };
}
