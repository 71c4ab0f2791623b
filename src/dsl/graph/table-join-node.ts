import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { GraphNode } from './graph-node.js';

/** `stream.join(table, …)`: looks up each record's key in the table. */
export interface TableJoinNode {
  readonly kind: 'tableJoin';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly table: GraphNode;
  /** Where the table's rows are. */
  readonly tableStores: readonly string[];
  /** Of a join with a grace period: stream records that wait. */
  readonly buffer: StoreSpec | null;
  /** Left joins do (KIP-962). */
  readonly acceptsNullKeys: boolean;
}

export function tableJoinNode(fields: Omit<TableJoinNode, 'kind'>): TableJoinNode {
  return Object.freeze({ kind: 'tableJoin', ...fields });
}

export function writeTableJoin(node: TableJoinNode, builder: TopologyBuilder, parents: readonly string[]): void {
  builder.addOperator(node.name, node.supplier, parents, node.tableStores);
  if (node.buffer !== null) builder.addStateStore(node.buffer, { processors: [node.name] });
}
