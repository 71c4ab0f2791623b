/**
 * Stands before a repartition topic: a record without a key has no partition to go to.
 *
 * Kafka Streams drops it without counting; here it is counted under a reason of its own.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';

export function dropNullKeyOperator(): OperatorSupplier {
  return () => new DropNullKeyOperator();
}

class DropNullKeyOperator extends NodeOperator<unknown, unknown> {
  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-repartition-key');
      return;
    }
    return this.downstream.process(key, value, timestamp);
  }
}
