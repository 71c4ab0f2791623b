import { tableSourceOperator } from '../../processors/table-source.js';
import type { StoreSpec } from '../../stores/store.js';
import type { SourceOptions } from '../../topology/source-node.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `builder.table(…)`: reads a topic as changes of a table. */
export interface TableSourceNode {
  readonly kind: 'tableSource';
  /** Name of the processor behind the source. */
  readonly name: string;
  readonly sourceName: string;
  readonly topic: string;
  readonly source: SourceOptions;
  readonly store: StoreSpec;
  readonly emit: 'onUpdate' | 'onCommit' | null;
}

export function tableSourceNode(fields: Omit<TableSourceNode, 'kind'>): TableSourceNode {
  return Object.freeze({ kind: 'tableSource', ...fields });
}

/** @param kept whether the table has a store: only when it is named, or when an operator looks into it */
export function writeTableSource(node: TableSourceNode, builder: TopologyBuilder, kept: boolean): void {
  const { name, sourceName, store, emit } = node;
  builder.addSource(sourceName, { ...node.source, topics: [node.topic] });
  builder.addProcessor(name, tableSourceOperator({ storeName: kept ? store.name : null, emit }), [sourceName]);
  if (kept) builder.addStateStore(store, { processors: [name] });
}
