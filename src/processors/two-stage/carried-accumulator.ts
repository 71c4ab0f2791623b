/**
 * Between two stages accumulators go through a topic, and so through their serde. One that does not give back what it was given (JSON of NaN, of a Map, of an object with functions) shows
 * only when parts are combined: what fails then names the serde, since the function has done no wrong.
 */
import { isPromiseLike } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { compileSerde } from '../../serdes/compile-serde.js';
import { serdeOver } from '../../serdes/late-serde.js';
import type { Serde, SerdeUse } from '../../serdes/serde.js';
import { notCarried } from '../carried-value.js';
import type { Awaitable } from '../user-functions.js';
import { serialized } from '../../serdes/serialized.js';

/** No stage sends null. @throws Error for one that came all the same */
export function requireCarried<A>(accumulator: A, serdeName: string): A {
  if (accumulator !== null && accumulator !== undefined) return accumulator;
  throw new Error(
    notCarried(serdeName, String(accumulator), 'an accumulator that was none when it was written, as JSON does of NaN and Infinity'),
  );
}

/** `serde`, for accumulators that are never null. null: over the app's default for values. */
export function carriedSerde<A>(serde: Serde<A> | null): Serde<A> {
  return serdeOver(serde, carriedBy, 'value', 'accumulator');
}

function carriedBy<A>(serde: Serde<A>): Serde<A> {
  const { name } = serde;
  const compiled = compileSerde(serde);
  const checked = (value: A | Promise<A>): A | Promise<A> =>
    isPromiseLike(value) ? value.then((later) => requireCarried(later, name)) : requireCarried(value, name);
  return Object.freeze({
    name,
    valueIsIdentity: compiled.valueIsIdentity,
    serialize: (value: A) => serialized(serde, value),
    deserialize: (bytes: Buffer) => checked(serde.deserialize(bytes)),
    encode: (value, out) => compiled.encode(value, out),
    decode: (buffer, start, end) => checked(compiled.decode(buffer, start, end)),
    prepare: async (use: SerdeUse) => {
      await serde.prepare?.(use);
    },
  } satisfies Serde<A>);
}

/**
 * What `combine` gives; what it fails with says which serde the accumulators came through.
 *
 * @param what the call, as in `aggregate`
 */
export function combinedParts<K, A, R extends A | null>(
  what: string,
  serde: Serde<A> | null,
  combine: (one: A, other: A, key: K) => Awaitable<R>,
  one: A,
  other: A,
  key: K,
): Awaitable<R> {
  try {
    const combined = combine(one, other, key);
    return isPromiseLike(combined)
      ? combined.then(undefined, (error: unknown) => Promise.reject(notCombined(what, serde, error)))
      : combined;
  } catch (error) {
    throw notCombined(what, serde, error);
  }
}

function notCombined<A>(what: string, serde: Serde<A> | null, error: unknown): Error {
  if (error instanceof MillraceError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const through = serde === null ? 'the default value serde' : `serde ${serde.name}`;
  return new Error(
    `${what}: two accumulators could not be combined (they came through ${through}, which must give back what it was given): ${reason}`,
    {
      cause: error,
    },
  );
}
