import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { ExecutionMode } from '../../topology/nodes.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** An operator that brings its store: the aggregations. */
export interface StatefulNode {
  readonly kind: 'stateful';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly store: StoreSpec;
  /** Stores added elsewhere that it uses besides. */
  readonly stores: readonly string[];
  /** Works in event time, or may: watermarks have to reach it. */
  readonly usesEventTime: boolean;
  /** Makes the operator in batch mode; null: `supplier` does. */
  readonly inBatch: OperatorSupplier | null;
}

export function statefulNode(
  name: string,
  supplier: OperatorSupplier,
  store: StoreSpec,
  options: { readonly usesEventTime?: boolean; readonly stores?: readonly string[]; readonly inBatch?: OperatorSupplier | null } = {},
): StatefulNode {
  const { usesEventTime = false, stores = [], inBatch = null } = options;
  return Object.freeze({ kind: 'stateful', name, supplier, store, stores: Object.freeze(stores.slice()), usesEventTime, inBatch });
}

export function writeStateful(node: StatefulNode, builder: TopologyBuilder, parents: readonly string[], mode: ExecutionMode): void {
  const supplier = mode === 'batch' ? (node.inBatch ?? node.supplier) : node.supplier;
  builder.addOperator(node.name, supplier, parents, node.stores);
  builder.addStateStore(node.store, { processors: [node.name] });
}
