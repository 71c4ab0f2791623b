/** Turns what was declared into a topology: children, sub-topologies, co-partition groups, all frozen. The draft stays as it is. */
import { MillraceError } from '../errors.js';
import { processorOperator } from '../processors/processor-operator.js';
import { checkSerdes } from '../serdes/checked-serde.js';
import { BuiltTopology } from './built-topology.js';
import { groupTopics } from './copartition-groups.js';
import { checkCopartitioning } from './copartitioning.js';
import type { GlobalStoreNode, StoreNode, Topology, TopicRef, TopologyNode } from './nodes.js';
import { processorNode } from './processor-node.js';
import { sinkNode } from './sink-node.js';
import { sourceNode } from './source-node.js';
import { subTopologiesOf } from './sub-topologies.js';
import type { NodeDraft, TopologyDraft } from './topology-draft.js';
import { checkEventTimeLoops } from './event-time-loops.js';
import { invalidTopology } from './topology-errors.js';

/** @throws MILL_TOPOLOGY_STORE_NOT_CONNECTED, MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_TOPOLOGY_INVALID. */
export function freezeDraft(draft: TopologyDraft): Topology {
  checkStoresConnected(draft);
  const nodes = freezeNodes(draft);
  const idOf = subTopologyNumbers(draft);
  // Sources with a pattern have no topics before run time and are left out.
  const copartitionGroups = groupTopics(
    draft.copartitioned.map((sources) => sources.flatMap((name) => topicsOf(draft, name)).map((topic) => topicRef(draft, topic))),
  );
  checkCopartitioning(copartitionGroups, (topic) => draft.repartitionTopics.get(topic.name)?.partitions ?? null);
  const subTopologies = subTopologiesOf(nodes, idOf);
  checkEventTimeLoops(draft.repartitionTopics, subTopologies);
  return new BuiltTopology({
    mode: 'streaming',
    nodes,
    stores: freezeStores(draft),
    globalStores: freezeGlobalStores(draft, idOf),
    repartitionTopics: new Map(draft.repartitionTopics),
    copartitionGroups,
    copartitionedSources: draft.copartitioned,
    subTopologies,
  });
}

function checkStoresConnected({ stores }: TopologyDraft): void {
  const idle = [...stores].filter(([, { processors }]) => processors.length === 0).map(([name]) => name);
  if (idle.length === 0) return;
  const message = `No processor is connected to ${idle.map((name) => `store ${name}`).join(', ')}.`;
  throw new MillraceError('MILL_TOPOLOGY_STORE_NOT_CONNECTED', message, { details: { stores: idle } });
}

function freezeNodes(draft: TopologyDraft): Map<string, TopologyNode> {
  const children = new Map<string, string[]>();
  for (const [name, { parents }] of draft.nodes) {
    children.set(name, []);
    for (const parent of parents) children.get(parent)?.push(name);
  }
  const nodes = new Map<string, TopologyNode>();
  for (const [name, node] of draft.nodes) nodes.set(name, freezeNode(draft, name, node, children.get(name) ?? []));
  return nodes;
}

function freezeNode(draft: TopologyDraft, name: string, node: NodeDraft, children: readonly string[]): TopologyNode {
  switch (node.kind) {
    case 'source': {
      const { spec } = node;
      checkSerdes(name, spec.keySerde, spec.valueSerde);
      if ('pattern' in spec) return sourceNode(name, [], spec.pattern, spec, children);
      const topics = spec.topics.map((topic) => topicRef(draft, topic));
      return sourceNode(name, topics, null, spec, children);
    }
    case 'processor':
      return processorNode(name, node.supplier, node.stores, node.parents, children, {
        emitsAtOnce: draft.emittingAtOnce.has(name),
        isSide: draft.sides.has(name),
      });
    case 'sink': {
      checkSerdes(name, node.options.keySerde, node.options.valueSerde);
      const topic = typeof node.topic === 'string' ? topicRef(draft, node.topic) : node.topic;
      return sinkNode(name, topic, node.options, node.parents);
    }
  }
}

function topicRef({ repartitionTopics }: TopologyDraft, name: string): TopicRef {
  return Object.freeze({ name, internal: repartitionTopics.has(name) });
}

function freezeStores(draft: TopologyDraft): Map<string, StoreNode> {
  const stores = new Map<string, StoreNode>();
  for (const [name, { spec, processors, sourceTopic }] of draft.stores) {
    // Who emits at once drains nothing, unless unchanged rows are left out: a list of changes would only grow.
    const atOnce = spec.comparesChanges !== true && processors.some((processor) => draft.emittingAtOnce.has(processor));
    checkSerdes(`store ${name}`, spec.keySerde, spec.valueSerde);
    const frozen = Object.freeze(atOnce ? { ...spec, trackChanges: false } : { ...spec });
    stores.set(name, Object.freeze({ spec: frozen, processors: Object.freeze(processors.slice()), sourceTopic }));
  }
  return stores;
}

function freezeGlobalStores(draft: TopologyDraft, idOf: (node: string) => number): Map<string, GlobalStoreNode> {
  const stores = new Map<string, GlobalStoreNode>();
  for (const [name, { spec, options }] of draft.globalStores) {
    const { topic, sourceName, processorName, processor } = options;
    checkSerdes(sourceName, options.keySerde, options.valueSerde);
    stores.set(
      name,
      Object.freeze({
        id: idOf(sourceName),
        spec: Object.freeze({ ...spec }),
        topic,
        source: sourceNode(sourceName, [topicRef(draft, topic)], null, options, [processorName]),
        processorName,
        processor: processor ? processorNode(processorName, processorOperator(processor), [name], [sourceName], []) : null,
      }),
    );
  }
  return stores;
}

/** Numbers the groups of nodes by their first node, as Kafka Streams does. */
function subTopologyNumbers({ order, groups }: TopologyDraft): (node: string) => number {
  const ids = new Map<string, number>();
  for (const name of order) {
    const root = groups.root(name);
    if (!ids.has(root)) ids.set(root, ids.size);
  }
  return (node) => {
    const id = ids.get(groups.root(node));
    if (id === undefined) throw new MillraceError('MILL_INVARIANT', `Node ${node} belongs to no sub-topology.`);
    return id;
  };
}

function topicsOf({ nodes }: TopologyDraft, source: string): readonly string[] {
  const node = nodes.get(source);
  if (node?.kind === 'source') return 'topics' in node.spec ? node.spec.topics : [];
  throw invalidTopology(`${source} is to be co-partitioned, but is not a source of this topology.`, { node: source });
}
