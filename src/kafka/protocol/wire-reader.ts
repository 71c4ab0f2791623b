/**
 * Reads the primitive types of Kafka's protocol out of a response.
 *
 * Bytes are views into the response, never copies: whoever keeps one keeps the response's memory. A response that ends
 * too early throws a RangeError; the driver turns it into a transport error, since the stream can't be trusted then.
 */
export class WireReader {
  private at = 0;

  constructor(
    private readonly buffer: Buffer,
    readonly flexible: boolean,
  ) {}

  get remaining(): number {
    return this.buffer.length - this.at;
  }

  readInt8(): number {
    return this.buffer.readInt8(this.advance(1));
  }

  readBoolean(): boolean {
    return this.readInt8() !== 0;
  }

  readInt16(): number {
    return this.buffer.readInt16BE(this.advance(2));
  }

  readInt32(): number {
    return this.buffer.readInt32BE(this.advance(4));
  }

  /** A 64-bit integer as a number: exact up to 2^53, which offsets and timestamps stay below. */
  readInt64(): number {
    const start = this.advance(8);
    return this.buffer.readInt32BE(start) * 0x1_0000_0000 + this.buffer.readUInt32BE(start + 4);
  }

  readBigInt64(): bigint {
    return this.buffer.readBigInt64BE(this.advance(8));
  }

  /** A UUID in Kafka's text form: base64url without padding. The zero UUID means none. */
  readUuid(): string | null {
    const start = this.advance(16);
    const bytes = this.buffer.subarray(start, start + 16);
    return bytes.every((byte) => byte === 0) ? null : bytes.toString('base64url');
  }

  readUnsignedVarint(): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.buffer.readUInt8(this.advance(1));
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw new RangeError('varint of more than 8 bytes');
  }

  readNullableString(): string | null {
    const size = this.flexible ? this.readUnsignedVarint() - 1 : this.readInt16();
    if (size < 0) return null;
    const start = this.advance(size);
    return this.buffer.toString('utf8', start, start + size);
  }

  readString(): string {
    return this.readNullableString() ?? '';
  }

  /** A view; empty for null. */
  readSizedBytes(): Buffer {
    const size = this.flexible ? this.readUnsignedVarint() - 1 : this.readInt32();
    if (size <= 0) return this.buffer.subarray(this.at, this.at);
    const start = this.advance(size);
    return this.buffer.subarray(start, start + size);
  }

  /** Null reads as empty. */
  readArray<T>(readItem: () => T): T[] {
    return this.readNullableArray(readItem) ?? [];
  }

  readNullableArray<T>(readItem: () => T): T[] | null {
    const size = this.flexible ? this.readUnsignedVarint() - 1 : this.readInt32();
    if (size < 0) return null;
    const items: T[] = [];
    for (let i = 0; i < size; i++) items.push(readItem());
    return items;
  }

  /** Ends a structure. `onTag` may read a field it knows; whatever it leaves is skipped. */
  endStruct(onTag?: (tag: number, field: WireReader) => void): void {
    if (!this.flexible) return;
    const count = this.readUnsignedVarint();
    for (let i = 0; i < count; i++) {
      const tag = this.readUnsignedVarint();
      const size = this.readUnsignedVarint();
      const start = this.advance(size);
      onTag?.(tag, new WireReader(this.buffer.subarray(start, start + size), true));
    }
  }

  private advance(size: number): number {
    const start = this.at;
    if (size < 0 || start + size > this.buffer.length)
      throw new RangeError(`response ends at ${this.buffer.length}, ${size} more wanted at ${start}`);
    this.at = start + size;
    return start;
  }
}
