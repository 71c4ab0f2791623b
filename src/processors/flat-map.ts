/** Makes any number of records of one record; the function gives their keys and values (KStreamFlatMap). */
import { pairOf, severalOf } from './given-results.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { FlatRecordMapper } from './user-functions.js';

const mapper = 'flatMap: the mapper';

export function flatMapOperator<K, V, KR, VR>(fn: FlatRecordMapper<K, V, KR, VR>): OperatorSupplier {
  return () => new FlatMapOperator(fn);
}

class FlatMapOperator<K, V, KR, VR> extends NodeOperator<K, V> {
  constructor(private readonly fn: FlatRecordMapper<K, V, KR, VR>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const pairs = this.fn(value, key, this.meta);
    if (isPromiseLike(pairs)) return this.forwardLater(pairs, timestamp);
    return this.forwardAll(severalOf(mapper, pairs)[Symbol.iterator](), timestamp);
  }

  private forwardAll(pairs: Iterator<readonly [KR, VR]>, timestamp: number): MaybeAsync {
    for (let next = pairs.next(); next.done !== true; next = pairs.next()) {
      const pair = pairOf('flatMap: the mapper, in its array,', next.value);
      const pending = this.downstream.process(pair[0], pair[1], timestamp);
      if (pending !== undefined) return this.forwardRest(pending, pairs, timestamp);
    }
  }

  private async forwardRest(pending: Promise<void>, pairs: Iterator<readonly [KR, VR]>, timestamp: number): Promise<void> {
    await pending;
    await this.forwardAll(pairs, timestamp);
  }

  private async forwardLater(pending: PromiseLike<Iterable<readonly [KR, VR]>>, timestamp: number): Promise<void> {
    await this.forwardAll(severalOf(mapper, await pending)[Symbol.iterator](), timestamp);
  }
}
