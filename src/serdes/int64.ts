import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** A 64-bit signed integer as a bigint, big-endian, as Java's `LongSerializer`. */
export const int64Serde = inPlaceSerde<bigint>({
  name: 'int64',
  valueIsIdentity: true,
  encode: (value, out) => {
    if (typeof value !== 'bigint') throw cannotSerialize('int64', value, new Error('a bigint is needed (1n, not 1)'));
    out.writeBigInt64(value);
  },
  decode: (buffer, start, end) => {
    if (end - start !== 8) throw cannotDeserialize('int64', buffer, start, end, new Error('expected 8 bytes'));
    return buffer.readBigInt64BE(start);
  },
});
