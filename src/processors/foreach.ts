/** Hands each record to a function; nothing follows (KStreamForeach). */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { RecordAction } from './user-functions.js';

export function foreachOperator<K, V>(fn: RecordAction<K, V>): OperatorSupplier {
  return () => new ForeachOperator(fn);
}

class ForeachOperator<K, V> extends NodeOperator<K, V> {
  constructor(private readonly fn: RecordAction<K, V>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const done = this.fn(value, key, this.meta);
    if (isPromiseLike(done)) return settled(done);
  }
}

async function settled(done: PromiseLike<unknown>): Promise<void> {
  await done;
}
