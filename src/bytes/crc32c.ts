/**
 * CRC-32C (Castagnoli), the checksum of Kafka's record batches (RFC 3720 appendix B.4 has vectors).
 *
 * `@node-rs/crc32` computes it with the processor's own instruction where it loads; elsewhere the slicing-by-8 table
 * below does, with the same result. The record-batch encoder and decoder call it once a batch, stores once a row that LevelDB
 * is given or asked for.
 */
import { createRequire } from 'node:module';

type Crc32c = (bytes: Uint8Array, before: number) => number;

/** A native call costs more than the table walk for inputs shorter than this. */
const NATIVE_FROM = 128;

const native = loadNative();
let tables: Int32Array | undefined;

/** The checksum of `buffer[start, end)` as an unsigned 32-bit integer; `before`: that of the bytes that stand before these. */
export function crc32c(buffer: Uint8Array, start = 0, end = buffer.length, before = 0): number {
  if (native === null || end - start < NATIVE_FROM) return crc32cByTable(buffer, start, end, before);
  return native(start === 0 && end === buffer.length ? buffer : buffer.subarray(start, end), before);
}

/** The same in JavaScript alone: eight bytes a step over eight tables of 256 entries. */
export function crc32cByTable(buffer: Uint8Array, start = 0, end = buffer.length, before = 0): number {
  const table = (tables ??= makeTables());
  let crc = ~before;
  let at = start;
  for (const blocksEnd = end - 7; at < blocksEnd; at += 8) {
    crc ^= byte(buffer, at) | (byte(buffer, at + 1) << 8) | (byte(buffer, at + 2) << 16) | (byte(buffer, at + 3) << 24);
    crc =
      (table[0x700 | (crc & 0xff)] as number) ^
      (table[0x600 | ((crc >>> 8) & 0xff)] as number) ^
      (table[0x500 | ((crc >>> 16) & 0xff)] as number) ^
      (table[0x400 | (crc >>> 24)] as number) ^
      (table[0x300 | byte(buffer, at + 4)] as number) ^
      (table[0x200 | byte(buffer, at + 5)] as number) ^
      (table[0x100 | byte(buffer, at + 6)] as number) ^
      (table[byte(buffer, at + 7)] as number);
  }
  for (; at < end; at++) crc = (table[(crc ^ byte(buffer, at)) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

function byte(buffer: Uint8Array, at: number): number {
  return buffer[at] as number;
}

function makeTables(): Int32Array {
  const table = new Int32Array(8 * 256);
  for (let i = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    table[i] = crc;
  }
  for (let i = 256; i < table.length; i++) {
    const previous = table[i - 256] as number;
    table[i] = (previous >>> 8) ^ (table[previous & 0xff] as number);
  }
  return table;
}

function loadNative(): Crc32c | null {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { crc32c: Crc32c }).crc32c;
  } catch {
    return null;
  }
}
