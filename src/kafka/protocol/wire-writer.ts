/**
 * Writes the primitive types of Kafka's protocol into one growing buffer.
 *
 * A request is flexible (KIP-482) or it is not, for all of its fields: then strings, arrays and bytes have compact lengths
 * and every structure ends with tagged fields. Schemas call the same methods for both; `flexible` decides the form.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';

const ZERO_UUID = Buffer.alloc(16);

export class WireWriter extends ByteWriter {
  constructor(
    readonly flexible: boolean,
    initialCapacity = 256,
  ) {
    super(initialCapacity);
  }

  writeInt8(value: number): void {
    this.writeByte(value & 0xff);
  }

  writeBoolean(value: boolean): void {
    this.writeByte(value ? 1 : 0);
  }

  writeString(text: string): void {
    const size = Buffer.byteLength(text);
    if (this.flexible) this.writeUnsignedVarint(size + 1);
    else this.writeInt16(size);
    this.writeUtf8(text);
  }

  writeNullableString(text: string | null): void {
    if (text !== null) this.writeString(text);
    else if (this.flexible) this.writeUnsignedVarint(0);
    else this.writeInt16(-1);
  }

  /** In Kafka's base64 form; null is written as zeros. */
  writeUuid(id: string | null): void {
    this.writeBytes(id === null ? ZERO_UUID : Buffer.from(id, 'base64url'));
  }

  writeSizedBytes(bytes: Uint8Array): void {
    this.writeBytesSize(bytes.length);
    this.writeBytes(bytes);
  }

  /** The length before bytes that are sent from elsewhere. */
  writeBytesSize(size: number): void {
    if (this.flexible) this.writeUnsignedVarint(size + 1);
    else this.writeInt32(size);
  }

  /** Bytes that must not change until the request is answered: a writer may keep the reference instead of copying. */
  writeByReference(bytes: Uint8Array): void {
    this.writeBytes(bytes);
  }

  writeArray<T>(items: readonly T[], writeItem: (item: T) => void): void {
    if (this.flexible) this.writeUnsignedVarint(items.length + 1);
    else this.writeInt32(items.length);
    for (const item of items) writeItem(item);
  }

  writeNullArray(): void {
    if (this.flexible) this.writeUnsignedVarint(0);
    else this.writeInt32(-1);
  }

  /** Ends a structure: no tagged fields. */
  endStruct(): void {
    if (this.flexible) this.writeByte(0);
  }
}
