import type { ByteWriter } from '../bytes/byte-writer.js';
import { noHeaders, type Header, type Headers } from '../bytes/headers.js';
import { serdeOverAll } from './late-serde.js';
import type { CompiledSerde, Serde } from './serde.js';
import { valueListSerde } from './value-list.js';

/** A stream record that waits in a buffer, with what belongs to it. */
export interface WaitingRecord<V> {
  readonly value: V;
  readonly headers: Headers;
}

/** Stream records of one key and time that wait in a buffer: each its headers (count, then key and value with their lengths), then its value. */
export function waitingRecordsSerde<V>(valueSerde: Serde<V> | null): Serde<readonly WaitingRecord<V>[]> {
  const inner = [{ serde: valueSerde as Serde<never> | null, part: 'value' as const }];
  return serdeOverAll(`waiting(${valueSerde?.name ?? 'default'})`, inner, ([value]) =>
    valueListSerde(recordCodec(value as CompiledSerde<V>)),
  );
}

function recordCodec<V>(value: CompiledSerde<V>): {
  readonly name: string;
  encode(record: WaitingRecord<V>, out: ByteWriter): void;
  decodeSync(buffer: Buffer, start: number, end: number): WaitingRecord<V>;
} {
  return {
    name: `waiting(${value.name})`,
    encode: (record, out) => {
      writeHeaders(record.headers, out);
      value.encode(record.value, out);
    },
    decodeSync: (buffer, start, end) => {
      const reader = { buffer, at: start };
      const headers = readHeaders(reader);
      return { headers, value: value.decodeSync(buffer, reader.at, end) };
    },
  };
}

function writeHeaders(headers: Headers, out: ByteWriter): void {
  out.writeInt32(headers.length);
  for (const { key, value } of headers) {
    writeBytes(Buffer.from(key), out);
    writeBytes(value, out);
  }
}

function writeBytes(bytes: Buffer | null, out: ByteWriter): void {
  out.writeInt32(bytes === null ? -1 : bytes.length);
  if (bytes !== null) out.writeBytes(bytes);
}

interface Reader {
  readonly buffer: Buffer;
  at: number;
}

function readHeaders(reader: Reader): Headers {
  const count = readInt(reader);
  if (count === 0) return noHeaders;
  const headers: Header[] = [];
  for (let left = count; left > 0; left--) headers.push({ key: readBytes(reader)?.toString() ?? '', value: readBytes(reader) });
  return headers;
}

function readInt(reader: Reader): number {
  const value = reader.buffer.readInt32BE(reader.at);
  reader.at += 4;
  return value;
}

/** A copy: the buffer may be reused. */
function readBytes(reader: Reader): Buffer | null {
  const length = readInt(reader);
  if (length < 0) return null;
  const bytes = Buffer.from(reader.buffer.subarray(reader.at, reader.at + length));
  reader.at += length;
  return bytes;
}
