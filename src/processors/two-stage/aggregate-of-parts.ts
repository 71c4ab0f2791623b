import type { Serde } from '../../serdes/serde.js';
import type { AggregateFunction } from '../state/aggregate-function.js';
import { deletesRow } from './local-aggregate.js';
import { accumulatorOf, type Part } from './part.js';

/**
 * The second stage of a window's aggregate: it adds parts where `aggregate` adds values.
 *
 * @param serde of the accumulators
 * @param overlap whether a part is added to several windows
 */
export function aggregateOfParts<V, A, Out>(
  what: string,
  aggregate: AggregateFunction<V, A, Out>,
  serde: Serde<A>,
  overlap: boolean,
): AggregateFunction<Part<A>, A | null, Out> {
  return {
    initial: () => null,
    add: (before, part) => {
      const accumulator = accumulatorOf(part, overlap, serde);
      const merged = before === null ? accumulator : (aggregate.merge?.(before, accumulator) ?? null);
      if (merged === null) throw deletesRow(what);
      return merged;
    },
    // Only windows with a part are asked.
    result: (accumulator) => aggregate.result(accumulator as A),
  };
}
