import { doneAtOnce, resultAtOnce } from '../result-at-once.js';
import type { AggregateFunction } from './aggregate-function.js';

/**
 * The aggregate, held to what its type says: all it gives is there at once. A promise that was taken for an accumulator would be stored as one.
 *
 * @param what the call, as in `aggregate`
 */
export function aggregateAtOnce<In, Acc, Out>(what: string, aggregate: AggregateFunction<In, Acc, Out>): AggregateFunction<In, Acc, Out> {
  const [initial, add, result, merge] = [`${what}: initial`, `${what}: add`, `${what}: result`, `${what}: merge`];
  const held: AggregateFunction<In, Acc, Out> = {
    initial: () => doneAtOnce(initial, aggregate.initial()),
    add: (accumulator, value) => resultAtOnce(add, aggregate.add(accumulator, value)),
    result: (accumulator) => resultAtOnce(result, aggregate.result(accumulator)),
  };
  if (aggregate.merge === undefined) return Object.freeze(held);
  return Object.freeze({ ...held, merge: (a: Acc, b: Acc): Acc => resultAtOnce(merge, aggregate.merge?.(a, b) as Acc) });
}
