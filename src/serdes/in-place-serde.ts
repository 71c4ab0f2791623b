import { ByteWriter } from '../bytes/byte-writer.js';
import type { Serde } from './serde.js';

/** What a serde that works in place has to give. */
export interface InPlaceCodec<T> {
  readonly name: string;
  readonly valueIsIdentity?: boolean;
  readonly total?: boolean;
  encode(value: T, out: ByteWriter): void;
  decode(buffer: Buffer, start: number, end: number): T;
}

/** A serde that works in place and never gives a promise. */
export interface InPlaceSerde<T> extends Serde<T> {
  /** Writes the bytes of `value` at the end of `out`. */
  encode(value: T, out: ByteWriter): void;
  /** Reads from `buffer[start, end)`. */
  decode(buffer: Buffer, start: number, end: number): T;
}

/** A serde out of its in-place half: `serialize` and `deserialize` follow from `encode` and `decode`. */
export function inPlaceSerde<T>(codec: InPlaceCodec<T>): InPlaceSerde<T> {
  return Object.freeze({
    name: codec.name,
    valueIsIdentity: codec.valueIsIdentity ?? false,
    total: codec.total ?? false,
    encode: (value: T, out: ByteWriter) => codec.encode(value, out),
    decode: (buffer: Buffer, start: number, end: number) => codec.decode(buffer, start, end),
    serialize: (value: T) => {
      const out = new ByteWriter(64);
      codec.encode(value, out);
      return out.copy();
    },
    deserialize: (bytes: Buffer) => codec.decode(bytes, 0, bytes.length),
  });
}

/** A serde out of two functions. They get and give arrays of their own. */
export function fromSimpleSerde<T>(simple: {
  readonly name: string;
  serialize(value: T): Uint8Array;
  deserialize(bytes: Buffer): T;
}): Serde<T> {
  return Object.freeze({
    name: simple.name,
    serialize: (value: T) => simple.serialize(value),
    deserialize: (bytes: Buffer) => simple.deserialize(Buffer.from(bytes)),
  });
}
