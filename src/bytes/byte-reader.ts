import { noHeaders, type Header, type Headers } from './headers.js';
import type { ByteWriter } from './byte-writer.js';

/** Reads back what a ByteWriter wrote, in order. Arrays it gives are copies, since the buffer may be used again. */
export class ByteReader {
  constructor(
    readonly buffer: Buffer,
    public at: number,
  ) {}

  int32(): number {
    this.at += 4;
    return this.buffer.readInt32BE(this.at - 4);
  }

  int64(): number {
    this.at += 8;
    return Number(this.buffer.readBigInt64BE(this.at - 8));
  }

  double(): number {
    this.at += 8;
    return this.buffer.readDoubleBE(this.at - 8);
  }

  /** As `writeSized`. */
  sized(): Buffer | null {
    const length = this.int32();
    if (length < 0) return null;
    this.at += length;
    return Buffer.from(this.buffer.subarray(this.at - length, this.at));
  }

  /** As `writeHeaders`. */
  headers(): Headers {
    const count = this.int32();
    if (count === 0) return noHeaders;
    const headers: Header[] = [];
    for (let left = count; left > 0; left--) headers.push({ key: this.sized()?.toString() ?? '', value: this.sized() });
    return headers;
  }
}

/** Length, −1 for null, then the bytes. */
export function writeSized(bytes: Buffer | null, out: ByteWriter): void {
  out.writeInt32(bytes === null ? -1 : bytes.length);
  if (bytes !== null) out.writeBytes(bytes);
}

/** Count, then key and value of each. */
export function writeHeaders(headers: Headers, out: ByteWriter): void {
  out.writeInt32(headers.length);
  for (const { key, value } of headers) {
    writeSized(Buffer.from(key), out);
    writeSized(value, out);
  }
}
