import type { Serde } from '../../serdes/serde.js';
import type { AggregateFunction } from '../state/aggregate-function.js';
import { combinedParts } from './carried-accumulator.js';
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
  const merge = (one: A, other: A): A | null => aggregate.merge?.(one, other) ?? null;
  return {
    initial: () => null,
    add: (before, part) => {
      const accumulator = accumulatorOf(part, overlap, serde);
      if (before === null) return accumulator;
      const merged = combinedParts(what, serde, merge, before, accumulator, undefined) as A | null;
      if (merged === null) throw deletesRow(what);
      return merged;
    },
    // Only windows with a part are asked.
    result: (accumulator) => aggregate.result(accumulator as A),
  };
}
