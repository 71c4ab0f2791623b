import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** A 32-bit IEEE 754 number, big-endian, as Java's `FloatSerializer`: a number is rounded to what fits. */
export const floatSerde = inPlaceSerde<number>({
  name: 'float',
  encode: (value, out) => {
    if (typeof value !== 'number') throw cannotSerialize('float', value);
    out.writeFloat(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 4) throw cannotDeserialize('float', buffer, start, end, new Error('expected 4 bytes'));
    return buffer.readFloatBE(start);
  },
});
