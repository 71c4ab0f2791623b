import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { Serde } from './serde.js';
import { serialized } from './serialized.js';

/** A list of values: how many, then each with its length. */
export function listSerde<V>(element: Serde<V>): Serde<readonly V[]> {
  const name = `list(${element.name})`;
  return inPlaceSerde<readonly V[]>({
    name,
    encode: (values, out) => {
      out.writeInt32(values.length);
      for (const value of values) {
        const bytes = serialized(element, value);
        out.writeInt32(bytes.length);
        out.writeBytes(bytes);
      }
    },
    decode: (buffer, start) => {
      const values: V[] = [];
      let at = start + 4;
      for (let left = buffer.readInt32BE(start); left > 0; left--) {
        const end = at + 4 + buffer.readInt32BE(at);
        const value = element.deserialize(buffer.subarray(at + 4, end));
        if (isPromiseLike(value))
          throw new MillraceError('MILL_SERDE', `Serde ${name} needs its values at once, and ${element.name} gave a promise.`);
        values.push(value);
        at = end;
      }
      return values;
    },
  });
}
