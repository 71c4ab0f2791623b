import { isPromiseLike } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import type { Serde } from '../../serdes/serde.js';
import { serialized } from '../../serdes/serialized.js';

/** A value that shares nothing with the one given, as it would come back from storage. */
export function copiedValue<V>(value: V, serde: Serde<V>): V {
  if (typeof value !== 'object' || value === null) return value;
  return storedValue(value, serde);
}

/** A value as it would come back from storage. */
export function storedValue<V>(value: V, serde: Serde<V>): V {
  const stored = serde.deserialize(Buffer.from(serialized(serde, value)));
  if (!isPromiseLike(stored)) return stored;
  throw new MillraceError('MILL_SERDE', `Serde ${serde.name} gave a promise where the value is needed at once (in state of an operator).`);
}
