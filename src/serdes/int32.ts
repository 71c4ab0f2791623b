import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** A 32-bit signed integer, big-endian, as Java's `IntegerSerializer`. */
export const int32Serde = inPlaceSerde<number>({
  name: 'int32',
  valueIsIdentity: true,
  encode: (value, out) => {
    if ((value | 0) !== value) throw cannotSerialize('int32', value);
    out.writeInt32(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 4) throw cannotDeserialize('int32', buffer, start, end, new Error('expected 4 bytes'));
    return buffer.readInt32BE(start);
  },
});
