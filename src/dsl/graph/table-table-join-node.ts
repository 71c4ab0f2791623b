import type { OperatorSupplier } from '../../processors/operator.js';
import { passThroughOperator } from '../../processors/pass-through.js';
import { tableWriterOperator } from '../../processors/table-writer.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { GraphNode } from './graph-node.js';

/** One side of a join of tables. */
export interface TableJoinSide {
  readonly name: string;
  /** The table whose changes it takes. */
  readonly table: GraphNode;
  /** Where the rows of the other table are. */
  readonly otherStores: readonly string[];
  readonly supplierOf: (sendOldValues: boolean) => OperatorSupplier;
}

/** `table.join(table, …)` by key: an operator for each side, and one where their results meet. */
export interface TableTableJoinNode {
  readonly kind: 'tableTableJoin';
  /** Of the node where both sides meet. */
  readonly name: string;
  readonly left: TableJoinSide;
  readonly right: TableJoinSide;
  /** null: the result is not kept. */
  readonly store: StoreSpec | null;
  readonly emit: 'onUpdate' | 'onCommit' | null;
}

export function tableTableJoinNode(fields: Omit<TableTableJoinNode, 'kind'>): TableTableJoinNode {
  return Object.freeze({ kind: 'tableTableJoin', ...fields });
}

export function writeTableTableJoin(node: TableTableJoinNode, builder: TopologyBuilder, sendOldValues: boolean): void {
  const { name, left, right, store, emit } = node;
  for (const side of [left, right]) builder.addOperator(side.name, side.supplierOf(sendOldValues), [side.table.name], side.otherStores);
  const supplier = store === null ? passThroughOperator() : tableWriterOperator(store, emit);
  builder.addOperator(name, supplier, [left.name, right.name]);
  if (store !== null) builder.addStateStore(store, { processors: [name] });
}
