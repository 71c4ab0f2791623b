/**
 * What functions that make records may give: a value, a pair of key and value, or any number of either. In plain JavaScript a text passes for all three, since its characters can be gone
 * through and counted off, and a forgotten `return` for none; both would be written without a word.
 */
import { kindOf } from './carried-value.js';
import { gaveUndefined } from './defined-result.js';

/**
 * `pair`, if it is one.
 *
 * @param what the call and its function, as in `map: the mapper`
 * @throws TypeError
 */
export function pairOf<KR, VR>(what: string, pair: readonly [KR, VR]): readonly [KR, VR] {
  const given: unknown = pair;
  if (!Array.isArray(given)) throw new TypeError(`${what} gave ${kindOf(given)}: it must give an array of key and value`);
  if (pair[0] === undefined || pair[1] === undefined) throw gaveUndefined(`${what} (as key or value)`);
  return pair;
}

/**
 * `results`, if there can be several.
 *
 * @param what as for `pairOf`
 * @throws TypeError
 */
export function severalOf<R>(what: string, results: Iterable<R>): Iterable<R> {
  const given: unknown = results;
  if (isList(given)) return results;
  throw new TypeError(`${what} gave ${kindOf(given)}: it must give an array of results, empty for none`);
}

/** A text is none, though its characters can be gone through. */
export function isList(given: unknown): given is Iterable<unknown> {
  return typeof given === 'object' && given !== null && Symbol.iterator in given;
}
