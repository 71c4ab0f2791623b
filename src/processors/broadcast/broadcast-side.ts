/** Marks the records of the broadcast side on their way into the operator that takes both: it has one `process`. Records of the data come as they are. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { NodeOperator } from '../node-operator.js';
import type { OperatorSupplier } from '../operator.js';

export class FromBroadcast<V = unknown> {
  constructor(readonly value: V) {}
}

export function broadcastSideOperator(): OperatorSupplier {
  return () => new BroadcastSideOperator();
}

class BroadcastSideOperator extends NodeOperator<unknown, unknown> {
  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    return this.downstream.process(key, new FromBroadcast(value), timestamp);
  }
}
