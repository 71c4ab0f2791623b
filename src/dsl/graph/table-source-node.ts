import type { LateTarget } from '../../processors/late-records.js';
import type { OperatorSupplier } from '../../processors/operator.js';
import { tableSourceOperator } from '../../processors/table-source.js';
import { versionedTableSourceOperator } from '../../processors/versioned-table-source.js';
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
  /** Of versioned tables. */
  readonly late: LateTarget;
}

export function tableSourceNode(fields: Omit<TableSourceNode, 'kind'>): TableSourceNode {
  return Object.freeze({ kind: 'tableSource', ...fields });
}

/** The operator behind a source table, and behind whatever else reads a stream of records as a table. */
export function tableSourceOf({ store, emit, late }: Pick<TableSourceNode, 'store' | 'emit' | 'late'>, kept: boolean): OperatorSupplier {
  if (store.kind === 'versioned') return versionedTableSourceOperator(store.name, late);
  return tableSourceOperator({ storeName: kept ? store.name : null, emit });
}

/**
 * @param kept whether the table has a store: only when it is named, or when an operator looks into it
 * @param reusesTopic whether the source topic is the changelog of the store
 */
export function writeTableSource(node: TableSourceNode, builder: TopologyBuilder, kept: boolean, reusesTopic: boolean): void {
  const { name, sourceName, store } = node;
  builder.addSource(sourceName, { ...node.source, topics: [node.topic] });
  builder.addOperator(name, tableSourceOf(node, kept), [sourceName]);
  if (kept) builder.addStateStore(store, { processors: [name], sourceTopic: reusesTopic ? node.topic : null });
}
