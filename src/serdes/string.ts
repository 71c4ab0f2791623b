import type { ByteWriter } from '../bytes/byte-writer.js';
import { inPlaceSerde } from './in-place-serde.js';
import { cannotSerialize } from './serde-error.js';

/** Below this length a loop over ASCII characters beats the call into the runtime. */
const loopBelow = 64;

/**
 * Text as UTF-8, as Java's `StringSerializer` writes it. Lone surrogates are written as U+FFFD and bytes that are not UTF-8 are read as U+FFFD:
 * for such malformed text alone, equal values may have had different bytes.
 */
export const stringSerde = inPlaceSerde<string>({
  name: 'string',
  valueIsIdentity: true,
  total: true,
  encode: encodeString,
  decode: decodeString,
});

function encodeString(value: string, out: ByteWriter): void {
  if (typeof value !== 'string') throw cannotSerialize('string', value);
  const size = value.length;
  if (size >= loopBelow) {
    out.writeUtf8(value);
    return;
  }
  out.ensure(size * 3);
  const { buffer } = out;
  let at = out.length;
  for (let i = 0; i < size; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) {
      out.writeUtf8(value);
      return;
    }
    buffer[at++] = code;
  }
  out.length = at;
}

/** `utf8Slice` is `toString('utf8', …)` without its argument checks: the fastest of all ways from about 8 bytes on, for ASCII too. */
interface SliceableBuffer {
  utf8Slice(start: number, end: number): string;
}

function decodeString(buffer: Buffer, start: number, end: number): string {
  return (buffer as Buffer & SliceableBuffer).utf8Slice(start, end);
}
