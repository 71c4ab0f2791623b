/** Results of functions that windows and joins of keyed streams call in the middle of their work, where no promise can be waited for. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { gaveUndefined } from './defined-result.js';
import { kindOf } from './carried-value.js';
import { isList } from './given-results.js';

/**
 * `result`, unless it is undefined or a promise.
 *
 * @param what the call and its function, as in `temporalJoin: the joiner`
 * @throws TypeError
 */
export function resultAtOnce<R>(what: string, result: R): R {
  if (result === undefined) throw gaveUndefined(what);
  return doneAtOnce(what, result);
}

/**
 * `result`, unless it is a promise: for functions that may give nothing.
 *
 * @param what as for `resultAtOnce`
 * @throws TypeError
 */
export function doneAtOnce<R>(what: string, result: R): R {
  if (isPromiseLike(result)) {
    leave(result);
    throw new TypeError(`${what} gave a promise: it must give its result at once. Await things before, in mapValues, or behind it`);
  }
  return result;
}

/** Nobody waits for a promise that is refused: if it rejects, that must not end the process as an unhandled rejection. */
function leave(refused: PromiseLike<unknown>): void {
  refused.then(undefined, () => undefined);
}

/**
 * Refuses the promise of an `init`: records would be processed before it is done, and what it does later would belong to no epoch.
 *
 * @throws MILL_STATE_INVALID
 */
export function initAtOnce(nodeName: string, result: unknown): void {
  if (!isPromiseLike(result)) return;
  leave(result);
  throw new MillraceError(
    'MILL_STATE_INVALID',
    `Processor ${nodeName}: init gave a promise, and nothing waits for it. Make init synchronous; await things before the app starts, or in process.`,
    { details: { node: nodeName } },
  );
}

/**
 * `results` as a list, unless they are none, or one of them is no result. All of them or none: a generator that fails half way has given nothing.
 *
 * @param what as for `resultAtOnce`
 * @throws TypeError
 */
export function resultsAtOnce<R>(what: string, results: readonly R[]): readonly R[] {
  const given: unknown = doneAtOnce(what, results);
  if (!isList(given)) throw new TypeError(`${what} gave ${kindOf(given)}: it must give an array of results, empty for none`);
  const list = (Array.isArray(given) ? given : [...given]) as readonly R[];
  for (const result of list) resultAtOnce(`${what}, in its array,`, result);
  return list;
}
