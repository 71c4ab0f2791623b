/** Makes one record of one record; the function gives key and value (KStreamMap). */
import { pairOf } from './given-results.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { RecordMapper } from './user-functions.js';

export function mapOperator<K, V, KR, VR>(fn: RecordMapper<K, V, KR, VR>): OperatorSupplier {
  return () => new MapOperator(fn);
}

class MapOperator<K, V, KR, VR> extends NodeOperator<K, V> {
  constructor(private readonly fn: RecordMapper<K, V, KR, VR>) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const pair = this.fn(value, key, this.meta);
    if (isPromiseLike(pair)) return this.forwardLater(pair, timestamp);
    return this.forward(pair, timestamp);
  }

  private async forwardLater(pending: PromiseLike<readonly [KR, VR]>, timestamp: number): Promise<void> {
    await this.forward(await pending, timestamp);
  }

  private forward(given: readonly [KR, VR], timestamp: number): MaybeAsync {
    const pair = pairOf('map: the mapper', given);
    return this.downstream.process(pair[0], pair[1], timestamp);
  }
}
