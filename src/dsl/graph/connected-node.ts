import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** An operator under a stream and a broadcast one, with a store for each broadcast state, and one for the state of its keys. */
export interface ConnectedNode {
  readonly kind: 'connected';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly stores: readonly StoreSpec[];
  /** Stores added elsewhere that it uses besides. */
  readonly usedStores: readonly string[];
  /** Works in event time, or may: watermarks have to reach it. */
  readonly usesEventTime: boolean;
}

export function connectedNode(fields: Omit<ConnectedNode, 'kind'>): ConnectedNode {
  return Object.freeze({ kind: 'connected', ...fields });
}

export function writeConnected(node: ConnectedNode, builder: TopologyBuilder, parents: readonly string[]): void {
  builder.addOperator(node.name, node.supplier, parents, node.usedStores);
  for (const store of node.stores) builder.addStateStore(store, { processors: [node.name] });
}
