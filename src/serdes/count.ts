import { inPlaceSerde } from './in-place-serde.js';
import { cannotDeserialize, cannotSerialize } from './serde-error.js';

/**
 * Counts: the 8 big-endian bytes of Java's `Long`, as a plain number. Exact up to 2^53 - 1, which no count reaches; a number that is not a safe
 * integer is refused in both directions (MILL_SERDE). Use `serdes.int64` for arbitrary 64-bit integers.
 */
export const countSerde = inPlaceSerde<number>({
  name: 'count',
  valueIsIdentity: true,
  encode: (value, out) => {
    if (!Number.isSafeInteger(value)) throw cannotSerialize('count', value, new Error('a whole number up to 2^53 - 1 is needed'));
    out.writeInt64(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 8) throw cannotDeserialize('count', buffer, start, end, new Error('expected 8 bytes'));
    const value = buffer.readInt32BE(start) * 0x1_0000_0000 + buffer.readUInt32BE(start + 4);
    if (!Number.isSafeInteger(value)) throw cannotDeserialize('count', buffer, start, end, new Error('the number is beyond 2^53 - 1'));
    return value;
  },
});
