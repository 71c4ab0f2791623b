/**
 * One rule for what user functions give: a value, or null for none (a tombstone, a deleted row). undefined is neither: it is what a function gives that forgot its `return`, so
 * it fails the record like an error of the function.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { Awaitable } from './user-functions.js';

/** @param what the call and its function, as in `reduce: the reducer` */
export function gaveUndefined(what: string): TypeError {
  return new TypeError(`${what} gave undefined: return a value, or null for none`);
}

/**
 * `fn`, with its result held to the rule. For functions of up to four arguments, as all of ours are; it gets those that were given and no more, since
 * `Number` or `Math.max` make something of an `undefined` behind them.
 */
export function defined<A extends unknown[], R>(what: string, fn: (...args: A) => Awaitable<R>): (...args: A) => Awaitable<R> {
  const called = fn as unknown as (one?: unknown, two?: unknown, three?: unknown, four?: unknown) => Awaitable<R>;
  const checked = (result: R): R => {
    if (result === undefined) throw gaveUndefined(what);
    return result;
  };
  const held = (one?: unknown, two?: unknown, three?: unknown, four?: unknown): Awaitable<R> => {
    const result =
      four !== undefined
        ? called(one, two, three, four)
        : three !== undefined
          ? called(one, two, three)
          : two !== undefined
            ? called(one, two)
            : one !== undefined
              ? called(one)
              : called();
    if (result === undefined) throw gaveUndefined(what);
    return isPromiseLike(result) ? result.then(checked) : result;
  };
  return held as unknown as (...args: A) => Awaitable<R>;
}
