import { isBytes } from './is-bytes.js';

/**
 * A growing byte buffer that encoders write into in place.
 *
 * One writer is reused for many records: `reset()` keeps the memory. The fields are public because the
 * hot path reads them; only `ensure` may replace `buffer`, so never hold `buffer` across a call that writes.
 */
export class ByteWriter {
  /** Where it writes; replaced when it grows. */
  buffer: Buffer;
  /** Bytes written. */
  length = 0;

  /** @param usualLimit the buffer grows past this length only when it has to: more is seldom written */
  constructor(
    initialCapacity = 256,
    private readonly usualLimit = Infinity,
  ) {
    this.buffer = Buffer.allocUnsafeSlow(initialCapacity);
  }

  /** Forgets what was written and keeps the memory. */
  reset(): void {
    this.length = 0;
  }

  /** Makes room for `extra` more bytes. */
  ensure(extra: number): void {
    const needed = this.length + extra;
    if (needed > this.buffer.length) this.grow(needed);
  }

  /** One byte, 0 to 255. */
  writeByte(value: number): void {
    if (this.length === this.buffer.length) this.grow(this.length + 1);
    this.buffer[this.length++] = value;
  }

  /** Big-endian, as all numbers here. */
  writeInt16(value: number): void {
    this.ensure(2);
    this.length = this.buffer.writeInt16BE(value, this.length);
  }

  /** Big-endian. */
  writeInt32(value: number): void {
    this.ensure(4);
    this.length = this.buffer.writeInt32BE(value, this.length);
  }

  /** A 64-bit big-endian integer from a JavaScript number (exact up to 2^53). */
  writeInt64(value: number): void {
    this.ensure(8);
    const high = Math.floor(value / 0x1_0000_0000);
    this.buffer.writeInt32BE(high | 0, this.length);
    this.length = this.buffer.writeUInt32BE(value - high * 0x1_0000_0000, this.length + 4);
  }

  /** A 64-bit big-endian integer. */
  writeBigInt64(value: bigint): void {
    this.ensure(8);
    this.length = this.buffer.writeBigInt64BE(value, this.length);
  }

  /** IEEE 754, 64 bits, big-endian. */
  writeDouble(value: number): void {
    this.ensure(8);
    this.length = this.buffer.writeDoubleBE(value, this.length);
  }

  /** IEEE 754, 32 bits, big-endian. */
  writeFloat(value: number): void {
    this.ensure(4);
    this.length = this.buffer.writeFloatBE(value, this.length);
  }

  /** Unsigned LEB128 of a non-negative integer below 2^53. */
  writeUnsignedVarint(value: number): void {
    this.ensure(10);
    let rest = value;
    while (rest > 0x7fff_ffff) {
      this.buffer[this.length++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      this.buffer[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[this.length++] = rest;
  }

  /** Zigzag varint, as Kafka's records use for 32- and 64-bit integers; exact for |value| below 2^52. */
  writeVarint(value: number): void {
    this.writeUnsignedVarint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  /** The bytes of `source[start, end)`. Default: all. Elements of what is no byte array would be written as zeros. @throws TypeError for such */
  writeBytes(source: Uint8Array, start = 0, end = source.length): void {
    if (!(source instanceof Uint8Array)) requireBytes(source);
    const size = end - start;
    this.ensure(size);
    if (size < 24) {
      const { buffer } = this;
      let at = this.length;
      for (let i = start; i < end; i++) buffer[at++] = source[i] as number;
    } else {
      this.buffer.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.length);
    }
    this.length += size;
  }

  /** The UTF-8 bytes of a text, without a length before them. */
  writeUtf8(text: string): void {
    this.ensure(text.length * 3);
    this.length += this.buffer.write(text, this.length);
  }

  /** A view of what was written. It is valid until the next write. */
  view(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  /** A copy of what was written, with memory of its own. */
  copy(): Buffer {
    return Buffer.from(this.view());
  }

  private grow(needed: number): void {
    const twice = this.buffer.length * 2;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, needed <= this.usualLimit ? Math.min(twice, this.usualLimit) : twice));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

function requireBytes(source: unknown): void {
  if (!isBytes(source))
    throw new TypeError(`writeBytes takes a Uint8Array, not ${source === null ? 'null' : `a value of type ${typeof source}`}`);
}
