import type { StoreSpec } from '../../stores/store.js';
import type { SourceOptions } from '../../topology/source-node.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `builder.globalTable(…)`: all of a topic in one store of every instance. */
export interface GlobalTableNode {
  readonly kind: 'globalTable';
  readonly name: string;
  readonly sourceName: string;
  readonly topic: string;
  readonly source: SourceOptions;
  readonly store: StoreSpec;
}

export function globalTableNode(fields: Omit<GlobalTableNode, 'kind'>): GlobalTableNode {
  return Object.freeze({ kind: 'globalTable', ...fields });
}

export function writeGlobalTable(node: GlobalTableNode, builder: TopologyBuilder): void {
  builder.addGlobalStore(node.store, { ...node.source, topic: node.topic, sourceName: node.sourceName, processorName: node.name });
}
