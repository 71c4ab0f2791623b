/**
 * An incremental aggregate: what is kept is the accumulator, and its type need not be that of the values or of the result (a mean keeps sum and count).
 *
 * All four are synchronous. `add` and `merge` may change the accumulator they are given and return it.
 */
export interface AggregateFunction<In, Acc, Out> {
  /** The accumulator before the first value. */
  initial(): Acc;
  /** The accumulator with one more value. */
  add(accumulator: Acc, value: In): Acc;
  /** What goes out. */
  result(accumulator: Acc): Out;
  /** Two parts into one. Needed where windows merge (sessions) and for two-stage aggregation. */
  merge?(a: Acc, b: Acc): Acc;
}
