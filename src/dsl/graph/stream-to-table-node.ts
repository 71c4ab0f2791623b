import type { LateTarget } from '../../processors/late-records.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import { tableSourceOf } from './table-source-node.js';

/** `stream.toTable(…)`: reads a stream as changes of a table. */
export interface StreamToTableNode {
  readonly kind: 'streamToTable';
  readonly name: string;
  readonly store: StoreSpec;
  readonly emit: 'onUpdate' | 'onCommit' | null;
  /** Of versioned tables. */
  readonly late: LateTarget;
}

export function streamToTableNode(fields: Omit<StreamToTableNode, 'kind'>): StreamToTableNode {
  return Object.freeze({ kind: 'streamToTable', ...fields });
}

/** @param kept whether the table has a store: only when it is named, or when an operator looks into it */
export function writeStreamToTable(node: StreamToTableNode, builder: TopologyBuilder, parents: readonly string[], kept: boolean): void {
  builder.addOperator(node.name, tableSourceOf(node, kept), parents);
  if (kept) builder.addStateStore(node.store, { processors: [node.name] });
}
