import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `builder.addStateStore(…)`: a store for processors that name it. */
export interface StateStoreNode {
  readonly kind: 'stateStore';
  readonly name: string;
  readonly store: StoreSpec;
}

export function stateStoreNode(store: StoreSpec): StateStoreNode {
  return Object.freeze({ kind: 'stateStore', name: store.name, store });
}

export function writeStateStore(node: StateStoreNode, builder: TopologyBuilder): void {
  builder.addStateStore(node.store);
}
