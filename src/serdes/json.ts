import { cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { Serde } from './serde.js';

/** JSON text in UTF-8. `undefined`, functions and symbols have no JSON and are refused; null is told beside the bytes and never gets here. */
export function jsonSerde<T>(): Serde<T> {
  return inPlaceSerde<T>({
    name: 'json',
    encode: (value, out) => {
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) throw cannotSerialize('json', value);
      out.writeUtf8(text);
    },
    decode: (buffer, start, end) => JSON.parse(buffer.toString('utf8', start, end)) as T,
  });
}
