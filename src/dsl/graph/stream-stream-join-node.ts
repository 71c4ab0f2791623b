import { passThroughOperator } from '../../processors/pass-through.js';
import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { OperatorNode } from './operator-node.js';

/** One side of a join of streams. */
export interface StreamJoinSide {
  readonly name: string;
  readonly supplier: OperatorSupplier;
  /** The node that keeps this side's records. */
  readonly windowed: OperatorNode;
  readonly store: StoreSpec;
}

/** `stream.join(stream, …)`: an operator for each side, and one where their results meet. */
export interface StreamStreamJoinNode {
  readonly kind: 'streamStreamJoin';
  /** Of the node where both sides meet. */
  readonly name: string;
  readonly left: StreamJoinSide;
  readonly right: StreamJoinSide;
  /** Records that wait for a partner: of left and outer joins. */
  readonly unmatched: StoreSpec | null;
  /** Stands in for both sides in a join of a stream with itself, when that is optimised. */
  readonly selfJoin: OperatorSupplier;
  /** Left and outer joins do (KIP-962). */
  readonly acceptsNullKeys: boolean;
}

export function streamStreamJoinNode(fields: Omit<StreamStreamJoinNode, 'kind'>): StreamStreamJoinNode {
  return Object.freeze({ kind: 'streamStreamJoin', ...fields });
}

export function writeStreamStreamJoin(node: StreamStreamJoinNode, builder: TopologyBuilder): void {
  const { name, left, right, unmatched } = node;
  builder.addOperator(left.name, left.supplier, [left.windowed.name]);
  builder.addOperator(right.name, right.supplier, [right.windowed.name]);
  builder.addOperator(name, passThroughOperator(), [left.name, right.name]);
  builder.addStateStore(left.store, { processors: [left.windowed.name, right.name] });
  builder.addStateStore(right.store, { processors: [right.windowed.name, left.name] });
  if (unmatched !== null) builder.addStateStore(unmatched, { processors: [left.name, right.name] });
}

/** One store and one operator. */
export function writeStreamSelfJoin({ name, left, selfJoin }: StreamStreamJoinNode, builder: TopologyBuilder): void {
  builder.addOperator(name, selfJoin, [left.windowed.name]);
  builder.addStateStore(left.store, { processors: [left.windowed.name, name] });
}
