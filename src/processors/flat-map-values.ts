/** Makes any number of records of one record, all with its key (KStreamFlatMapValues). */
import { gaveUndefined } from './defined-result.js';
import { severalOf } from './given-results.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { FlatValueMapper } from './user-functions.js';

const mapper = 'flatMapValues: the mapper';

export function flatMapValuesOperator<K, V, R>(fn: FlatValueMapper<K, V, R>): OperatorSupplier {
  return () => new FlatMapValuesOperator(fn);
}

class FlatMapValuesOperator<K, V, R> extends NodeOperator<K, V> {
  constructor(private readonly fn: FlatValueMapper<K, V, R>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const values = this.fn(value, key, this.meta);
    if (isPromiseLike(values)) return this.forwardLater(values, key, timestamp);
    return this.forwardAll(severalOf(mapper, values)[Symbol.iterator](), key, timestamp);
  }

  private forwardAll(values: Iterator<R>, key: K, timestamp: number): MaybeAsync {
    for (let next = values.next(); next.done !== true; next = values.next()) {
      if (next.value === undefined) throw gaveUndefined(`${mapper}, in its array,`);
      const pending = this.downstream.process(key, next.value, timestamp);
      if (pending !== undefined) return this.forwardRest(pending, values, key, timestamp);
    }
  }

  private async forwardRest(pending: Promise<void>, values: Iterator<R>, key: K, timestamp: number): Promise<void> {
    await pending;
    await this.forwardAll(values, key, timestamp);
  }

  private async forwardLater(pending: PromiseLike<Iterable<R>>, key: K, timestamp: number): Promise<void> {
    await this.forwardAll(severalOf(mapper, await pending)[Symbol.iterator](), key, timestamp);
  }
}
