import type { OperatorSupplier } from '../../processors/operator.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { TableNode } from './graph-node.js';

/** `stream.join(table, …)`: looks up each record's key in the table's store. */
export interface TableJoinNode {
  readonly kind: 'tableJoin';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly table: TableNode;
  /** Left joins do (KIP-962). */
  readonly acceptsNullKeys: boolean;
}

export function tableJoinNode(fields: Omit<TableJoinNode, 'kind'>): TableJoinNode {
  return Object.freeze({ kind: 'tableJoin', ...fields });
}

export function writeTableJoin(node: TableJoinNode, builder: TopologyBuilder, parents: readonly string[]): void {
  builder.addProcessor(node.name, node.supplier, parents, [node.table.store.name]);
}
