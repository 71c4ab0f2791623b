/** Replaces the key, keeps the value (KStreamImpl.selectKey). */
import { gaveUndefined } from './defined-result.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { ValueMapper } from './user-functions.js';

export function selectKeyOperator<K, V, KR>(fn: ValueMapper<K, V, KR>): OperatorSupplier {
  return () => new SelectKeyOperator(fn);
}

class SelectKeyOperator<K, V, KR> extends NodeOperator<K, V> {
  constructor(private readonly fn: ValueMapper<K, V, KR>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const newKey = this.fn(value, key, this.meta);
    if (newKey === undefined) throw gaveUndefined('the key selector');
    if (isPromiseLike(newKey)) return this.forwardLater(newKey, value, timestamp);
    return this.downstream.process(newKey, value, timestamp);
  }

  private async forwardLater(pending: PromiseLike<unknown>, value: V, timestamp: number): Promise<void> {
    const newKey = await pending;
    if (newKey === undefined) throw gaveUndefined('the key selector');
    await this.downstream.process(newKey, value, timestamp);
  }
}
