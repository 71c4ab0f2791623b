import { anything, flag, requireOptions, type ShapeOf } from '../../errors/checked-options.js';
import { MillraceError } from '../../errors.js';

/** Which right records a left record meets: those with `left + lower ≤ right ≤ left + upper`, in event time. */
export interface IntervalBounds {
  /** ms; negative: the right record may be earlier. */
  readonly lower: number;
  /** ms */
  readonly upper: number;
  /** False takes the lower bound itself out. Default true. */
  readonly lowerInclusive?: boolean;
  /** False takes the upper bound itself out. Default true. */
  readonly upperInclusive?: boolean;
}

const shape = { lower: anything, upper: anything, lowerInclusive: flag, upperInclusive: flag } satisfies ShapeOf<IntervalBounds>;

/** Bounds with both ends inclusive: timestamps are whole milliseconds, so an exclusive end is one millisecond in. */
export interface InclusiveBounds {
  readonly lower: number;
  readonly upper: number;
}

/**
 * As in Flink, bounds may leave no time between them (exclusive ones of one distance): then nothing is joined.
 *
 * @throws MILL_CONFIG_INVALID unless both are whole milliseconds and `lower ≤ upper`
 */
export function inclusiveBounds(given: IntervalBounds): InclusiveBounds {
  requireOptions('intervalJoin: the bounds', given, shape);
  const { lower, upper, lowerInclusive = true, upperInclusive = true } = given;
  if (Number.isSafeInteger(lower) && Number.isSafeInteger(upper) && lower <= upper)
    return Object.freeze({ lower: lowerInclusive ? lower : lower + 1, upper: upperInclusive ? upper : upper - 1 });
  throw invalid(`lower ≤ upper in whole milliseconds, not ${lower} and ${upper}`, given);
}

/** For a join that is meant to join something. @throws MILL_CONFIG_INVALID as `inclusiveBounds`, and when no time lies between the bounds */
export function joiningBounds(given: IntervalBounds): InclusiveBounds {
  const bounds = inclusiveBounds(given);
  if (bounds.lower <= bounds.upper) return bounds;
  throw invalid(`a time between its bounds: ${given.lower} and ${given.upper}, as exclusive as they are, leave none`, given);
}

function invalid(needs: string, { lower, upper, lowerInclusive, upperInclusive }: IntervalBounds): MillraceError {
  return new MillraceError('MILL_CONFIG_INVALID', `An interval join needs ${needs}.`, {
    details: { lower, upper, lowerInclusive, upperInclusive },
  });
}
