/**
 * Zigzag varints written straight into a buffer: the encoder's twin of `ByteWriter.writeVarint`, which knows its room already.
 */

/** Writes an integer of |value| < 2^30 into at most five bytes, which the caller has made sure are free, and returns the place after it. */
export function putVarint(buffer: Buffer, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest > 127) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at] = rest;
  return at + 1;
}

/** Bytes that `putVarint` writes. */
export function varintSize(value: number): number {
  const rest = ((value << 1) ^ (value >> 31)) >>> 0;
  if (rest < 0x80) return 1;
  if (rest < 0x4000) return 2;
  if (rest < 0x20_0000) return 3;
  return rest < 0x1000_0000 ? 4 : 5;
}

/** Writes any safe integer as a 64-bit zigzag varint; the caller has made sure that ten bytes are free. */
export function putVarlong(buffer: Buffer, at: number, value: number): number {
  if (value > -0x2000_0000 && value < 0x2000_0000) return putVarint(buffer, at, value);
  const exact = BigInt(value);
  let rest = exact < 0n ? -exact * 2n - 1n : exact * 2n;
  while (rest > 127n) {
    buffer[at++] = Number(rest & 0x7fn) | 0x80;
    rest >>= 7n;
  }
  buffer[at] = Number(rest);
  return at + 1;
}
