import { isBytes } from '../bytes/is-bytes.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { Serde } from './serde.js';
import { cannotSerialize } from './serde-error.js';

/**
 * What the serde's `serialize` gives, if it is bytes: the characters of a text or the fields of an object would be copied as zeros, and what is read of a topic
 * later tells nobody that they were none.
 *
 * @throws MILL_SERDE for anything else, a promise included; what `serialize` throws
 */
export function serialized<T>(serde: Pick<Serde<T>, 'name' | 'serialize'>, value: T): Uint8Array {
  const bytes: unknown = serde.serialize(value);
  if (isBytes(bytes)) return bytes;
  throw cannotSerialize(
    serde.name,
    value,
    new TypeError(`its serialize gave ${kindOf(bytes)}: it must give a Uint8Array, such as a Buffer`),
  );
}

/** Refuses the promise of an `encode`: what it writes later would stand between other records. @throws TypeError */
export function encodedAtOnce(result: unknown): void {
  if (isPromiseLike(result)) throw new TypeError(`its encode gave ${kindOf(result)}: it must write its bytes at once`);
}

function kindOf(given: unknown): string {
  if (isPromiseLike(given)) {
    // Nobody waits for it: that it rejects must not end the process.
    given.then(undefined, () => undefined);
    return 'a promise';
  }
  if (given === null || given === undefined) return String(given);
  if (typeof given !== 'object') return `a ${typeof given}`;
  return `an object (${(given.constructor as { name?: string } | undefined)?.name ?? 'without a class'})`;
}
