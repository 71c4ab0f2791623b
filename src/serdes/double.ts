import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/**
 * A 64-bit IEEE 754 number, big-endian, as Java's `DoubleSerializer`. Not its own identity: a Map takes 0 and -0 for one key, their bytes differ.
 */
export const doubleSerde = inPlaceSerde<number>({
  name: 'double',
  encode: (value, out) => {
    if (typeof value !== 'number') throw cannotSerialize('double', value);
    out.writeDouble(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 8) throw cannotDeserialize('double', buffer, start, end, new Error('expected 8 bytes'));
    return buffer.readDoubleBE(start);
  },
});
