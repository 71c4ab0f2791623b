import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** A 16-bit signed integer, big-endian, as Java's `ShortSerializer`. */
export const int16Serde = inPlaceSerde<number>({
  name: 'int16',
  valueIsIdentity: true,
  encode: (value, out) => {
    if ((value << 16) >> 16 !== value) throw cannotSerialize('int16', value);
    out.writeInt16(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 2) throw cannotDeserialize('int16', buffer, start, end, new Error('expected 2 bytes'));
    return buffer.readInt16BE(start);
  },
});
