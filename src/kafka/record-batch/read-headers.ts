/** Decodes a record's headers: a count, then for each a key and a value that may be null. Off the hot path. */
import type { Header, Headers } from '../../bytes/headers.js';

/** The headers in `buffer[start, end)`, or null when they do not fill exactly that. Values are copied: headers outlive the chunk. */
export function readHeaders(buffer: Buffer, start: number, end: number): Headers | null {
  const reader = new VarintReader(buffer, start, end);
  const count = reader.next();
  if (count < 0 || count > end - start) return null;
  const headers: Header[] = [];
  for (let i = 0; i < count; i++) {
    const keySize = reader.next();
    const keyAt = reader.at;
    if (keySize < 0 || keySize > end - keyAt) return null;
    reader.at += keySize;
    const valueSize = reader.next();
    const valueAt = reader.at;
    if (valueSize > end - valueAt || Number.isNaN(valueSize)) return null;
    if (valueSize > 0) reader.at += valueSize;
    headers.push({
      key: buffer.toString('utf8', keyAt, keyAt + keySize),
      value: valueSize < 0 ? null : Buffer.from(buffer.subarray(valueAt, valueAt + valueSize)),
    });
  }
  return reader.at === end ? headers : null;
}

class VarintReader {
  constructor(
    private readonly buffer: Buffer,
    public at: number,
    private readonly end: number,
  ) {}

  /** The next zigzag varint, or NaN when there is none: every comparison with NaN is false, so callers test for it. */
  next(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      if (this.at >= this.end) return NaN;
      const byte = this.buffer[this.at++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    return NaN;
  }
}
