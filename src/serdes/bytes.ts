import { cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** Bytes as they are. What is decoded is a copy with memory of its own. */
export const bytesSerde = inPlaceSerde<Buffer | Uint8Array>({
  name: 'bytes',
  total: true,
  encode: (value, out) => {
    if (!(value instanceof Uint8Array)) throw cannotSerialize('bytes', value);
    out.writeBytes(value);
  },
  decode: (buffer, start, end) => Buffer.from(buffer.subarray(start, end)),
});
