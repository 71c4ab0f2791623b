/** The records of the result that an asynchronous mapping function gave. */
import { gaveUndefined } from '../defined-result.js';
import { pairOf, severalOf } from '../given-results.js';

type Pair = readonly [unknown, unknown];

/** @throws TypeError, as all of them, for what can't be a result */
export function onlyValue<K, VR>(value: VR, key: K): readonly (readonly [K, VR])[] {
  if (value === undefined) throw gaveUndefined('mapValuesAsync: the mapper');
  return [[key, value]];
}

export function onlyPair<P extends Pair>(pair: P): readonly Pair[] {
  return [pairOf('mapAsync: the mapper', pair)];
}

export function* eachValue<K, VR>(values: Iterable<VR>, key: K): Iterable<readonly [K, VR]> {
  for (const value of severalOf('flatMapValuesAsync: the mapper', values)) {
    if (value === undefined) throw gaveUndefined('flatMapValuesAsync: the mapper, in its array,');
    yield [key, value];
  }
}

export function* eachPair<P extends Pair>(pairs: Iterable<P>): Iterable<Pair> {
  for (const pair of severalOf('flatMapAsync: the mapper', pairs)) yield pairOf('flatMapAsync: the mapper, in its array,', pair);
}
