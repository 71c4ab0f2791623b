import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { ExecutionMode } from '../../topology/nodes.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { GraphNode } from './graph-node.js';

/** An operator without a store of its own: filter, map, merge, branch, process, … */
export interface OperatorNode {
  readonly kind: 'operator';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  /** Stores added elsewhere that the operator uses. */
  readonly stores: readonly string[];
  /** Nodes whose stores it uses, which must be written before it. */
  readonly after: readonly GraphNode[];
  /** True when a repartition upstream must let records with a null key through (left joins, KIP-962). */
  readonly acceptsNullKeys: boolean;
  /** It gets only what its parents send it by name. */
  readonly isSide: boolean;
  /** What stands in its place in batch mode; null: the same. */
  readonly inBatch: { readonly supplier: OperatorSupplier; readonly store: StoreSpec } | null;
}

export interface OperatorNodeOptions {
  readonly stores?: readonly string[];
  readonly after?: readonly GraphNode[];
  readonly acceptsNullKeys?: boolean;
  readonly isSide?: boolean;
  readonly inBatch?: OperatorNode['inBatch'];
}

export function operatorNode(name: string, supplier: OperatorSupplier, options: OperatorNodeOptions = {}): OperatorNode {
  const { stores = [], after = [], acceptsNullKeys = false, isSide = false, inBatch = null } = options;
  return Object.freeze({
    kind: 'operator',
    name,
    supplier,
    stores: Object.freeze(stores.slice()),
    after,
    acceptsNullKeys,
    isSide,
    inBatch,
  });
}

export function writeOperator(node: OperatorNode, builder: TopologyBuilder, parents: readonly string[], mode: ExecutionMode): void {
  if (mode === 'batch' && node.inBatch !== null) {
    builder.addOperator(node.name, node.inBatch.supplier, parents, node.stores);
    builder.addStateStore(node.inBatch.store, { processors: [node.name] });
    return;
  }
  builder.addOperator(node.name, node.supplier, parents, node.stores);
  if (node.isSide) builder.sideOutput(node.name);
}
