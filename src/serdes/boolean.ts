import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** One byte, 1 or 0, as Java's `BooleanSerializer`. */
export const booleanSerde = inPlaceSerde<boolean>({
  name: 'boolean',
  valueIsIdentity: true,
  encode: (value, out) => {
    if (typeof value !== 'boolean') throw cannotSerialize('boolean', value);
    out.writeByte(value ? 1 : 0);
  },
  decode: (buffer, start, end) => {
    const byte = buffer[start];
    if (end - start !== 1 || (byte !== 0 && byte !== 1)) {
      throw cannotDeserialize('boolean', buffer, start, end, new Error('expected one byte, 0 or 1'));
    }
    return byte === 1;
  },
});
