/** Passes on the records for which the predicate holds (KStreamFilter). */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorSupplier } from './operator.js';
import type { Awaitable, Predicate } from './user-functions.js';

/** @param negate pass on those for which the predicate does not hold (`filterNot`) */
export function filterOperator<K, V>(predicate: Predicate<K, V>, negate = false): OperatorSupplier {
  return () => new FilterOperator(predicate, negate);
}

class FilterOperator<K, V> extends NodeOperator<K, V> {
  constructor(
    private readonly predicate: Predicate<K, V>,
    private readonly negate: boolean,
  ) {
    super();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const verdict: Awaitable<unknown> = this.predicate(value, key, this.meta);
    if (isPromiseLike(verdict)) return this.decideLater(verdict, key, value, timestamp);
    if (Boolean(verdict) !== this.negate) return this.downstream.process(key, value, timestamp);
  }

  private async decideLater(verdict: PromiseLike<unknown>, key: K, value: V, timestamp: number): Promise<void> {
    if (Boolean(await verdict) !== this.negate) await this.downstream.process(key, value, timestamp);
  }
}
