/** Shows each record to a function and passes it on unchanged (KStreamPeek). */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { RecordAction } from './user-functions.js';

export function peekOperator<K, V>(fn: RecordAction<K, V>): OperatorSupplier {
  return () => new PeekOperator(fn);
}

class PeekOperator<K, V> extends NodeOperator<K, V> {
  constructor(private readonly fn: RecordAction<K, V>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const done = this.fn(value, key, this.meta);
    if (isPromiseLike(done)) return this.forwardLater(done, key, value, timestamp);
    return this.downstream.process(key, value, timestamp);
  }

  private async forwardLater(done: PromiseLike<unknown>, key: K, value: V, timestamp: number): Promise<void> {
    await done;
    await this.downstream.process(key, value, timestamp);
  }
}
