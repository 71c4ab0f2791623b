import type { Processor } from '../../processors/processor.js';
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
  /** null: each record is a row. */
  readonly processor: (() => Processor<never, never>) | null;
}

export function globalTableNode(fields: Omit<GlobalTableNode, 'kind'>): GlobalTableNode {
  return Object.freeze({ kind: 'globalTable', ...fields });
}

export function writeGlobalTable(node: GlobalTableNode, builder: TopologyBuilder): void {
  const { source, topic, sourceName, name: processorName, processor } = node;
  builder.addGlobalStore(node.store, { ...source, topic, sourceName, processorName, processor });
}
