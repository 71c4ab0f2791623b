/** Passes every record on: the node that `merge` and branches leave in the topology (PassThrough). */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';

export function passThroughOperator(): OperatorSupplier {
  return () => new PassThroughOperator();
}

class PassThroughOperator extends NodeOperator<unknown, unknown> {
  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    return this.downstream.process(key, value, timestamp);
  }
}
