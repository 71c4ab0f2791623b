/** Turns a table's changes into records: the new value, null for a deleted row (KTable.toStream). */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { Change, OperatorSupplier } from './operator.js';

export function toStreamOperator(): OperatorSupplier {
  return () => new ToStreamOperator();
}

class ToStreamOperator<K, V> extends NodeOperator<K, Change<V>> {
  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    return this.downstream.process(key, change.newValue, timestamp);
  }
}
