import { describeTopology } from './description.js';
import type {
  ExecutionMode,
  GlobalStoreNode,
  RepartitionTopic,
  StoreNode,
  SubTopology,
  Topology,
  TopicRef,
  TopologyNode,
} from './nodes.js';
import { topologyToJson } from './topology-json.js';

/** What a topology is made of. */
export type TopologyParts = Pick<
  Topology,
  'mode' | 'nodes' | 'stores' | 'globalStores' | 'repartitionTopics' | 'copartitionGroups' | 'copartitionedSources' | 'subTopologies'
>;

/** The one implementation of `Topology`; made by `TopologyBuilder.build`. */
export class BuiltTopology implements Topology {
  readonly mode: ExecutionMode;
  readonly nodes: ReadonlyMap<string, TopologyNode>;
  readonly stores: ReadonlyMap<string, StoreNode>;
  readonly globalStores: ReadonlyMap<string, GlobalStoreNode>;
  readonly repartitionTopics: ReadonlyMap<string, RepartitionTopic>;
  readonly copartitionGroups: readonly (readonly TopicRef[])[];
  readonly copartitionedSources: readonly (readonly string[])[];
  readonly subTopologies: readonly SubTopology[];

  constructor(parts: TopologyParts) {
    this.mode = parts.mode;
    this.nodes = parts.nodes;
    this.stores = parts.stores;
    this.globalStores = parts.globalStores;
    this.repartitionTopics = parts.repartitionTopics;
    this.copartitionGroups = Object.freeze(parts.copartitionGroups.map((group) => Object.freeze(group.slice())));
    this.copartitionedSources = Object.freeze(parts.copartitionedSources.map((group) => Object.freeze(group.slice())));
    this.subTopologies = Object.freeze(parts.subTopologies.slice());
    Object.freeze(this);
  }

  describe(): string {
    return describeTopology(this);
  }

  toJSON(): object {
    return topologyToJson(this);
  }
}
