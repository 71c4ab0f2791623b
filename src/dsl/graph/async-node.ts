import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `mapAsync`, `processAsync`, …: an operator whose calls go on beside the task, with a store of the records that are unfinished at a commit. */
export interface AsyncNode {
  readonly kind: 'async';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly store: StoreSpec;
  /** Stores added elsewhere that the operator uses. */
  readonly stores: readonly string[];
}

export function asyncNode(fields: Omit<AsyncNode, 'kind'>): AsyncNode {
  return Object.freeze({ kind: 'async', ...fields });
}

export function writeAsync(node: AsyncNode, builder: TopologyBuilder, parents: readonly string[]): void {
  builder.addOperator(node.name, node.supplier, parents, node.stores);
  builder.addStateStore(node.store, { processors: [node.name] });
}
