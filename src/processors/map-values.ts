/** Replaces the value, keeps the key (KStreamMapValues). */
import { gaveUndefined } from './defined-result.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { ValueMapper } from './user-functions.js';

export function mapValuesOperator<K, V, R>(fn: ValueMapper<K, V, R>): OperatorSupplier {
  return () => new MapValuesOperator(fn);
}

class MapValuesOperator<K, V, R> extends NodeOperator<K, V> {
  constructor(private readonly fn: ValueMapper<K, V, R>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const mapped = this.fn(value, key, this.meta);
    if (mapped === undefined) throw gaveUndefined('mapValues: the mapper');
    if (isPromiseLike(mapped)) return this.forwardLater(mapped, key, timestamp);
    return this.downstream.process(key, mapped, timestamp);
  }

  private async forwardLater(pending: PromiseLike<unknown>, key: K, timestamp: number): Promise<void> {
    const mapped = await pending;
    if (mapped === undefined) throw gaveUndefined('mapValues: the mapper');
    await this.downstream.process(key, mapped, timestamp);
  }
}
