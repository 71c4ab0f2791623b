import type { ByteWriter } from './byte-writer.js';

/** Writes a value's bytes at the end of `out`. The value is never null: null is told beside the bytes. */
export interface Encoder<T> {
  encode(value: T, out: ByteWriter): void;
}

/** Reads a value out of `buffer[start, end)`. It must not keep a view of `buffer` beyond the call unless it copies. */
export interface Decoder<T> {
  decode(buffer: Buffer, start: number, end: number): T;
}
