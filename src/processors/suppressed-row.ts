/** A change held back by `suppress`, with what belongs to the record that brought it: results leave as if they had come from that record. */
import { noHeaders, type Header, type Headers } from '../bytes/headers.js';
import type { ByteWriter } from '../bytes/byte-writer.js';
import { compileSerde } from '../serdes/compile-serde.js';
import { inPlaceSerde } from '../serdes/in-place-serde.js';
import type { CompiledSerde, Serde, SerdeUse } from '../serdes/serde.js';

export interface SuppressedRow<V> {
  readonly newValue: V | null;
  readonly oldValue: V | null;
  /** The row that was last let through, which a downstream join still sees. */
  readonly priorValue: V | null;
  /** ms */
  readonly timestamp: number;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly headers: Headers;
}

const absent = -1;
const sameAsPrior = -2;

/** By how many bytes a serialised row without headers is larger than what Kafka Streams counts for the same row against `maxBytes`. */
export const uncountedBytes = 12;

/** Kafka Streams' `BufferValue`: the record context, then prior, old and new value, each with its length. */
export function suppressedRowSerde<V>(valueSerde: Serde<V>): Serde<SuppressedRow<V>> {
  const value = compileSerde(valueSerde);
  const serde = inPlaceSerde<SuppressedRow<V>>({
    name: `suppressed(${value.name})`,
    encode: (row, out) => {
      encodeContext(row, out);
      encodeValue(row.priorValue, value, out);
      if (row.oldValue !== null && row.oldValue === row.priorValue) out.writeInt32(sameAsPrior);
      else encodeValue(row.oldValue, value, out);
      encodeValue(row.newValue, value, out);
    },
    decode: (buffer, start) => decodeRow(new Reader(buffer, start), value),
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await valueSerde.prepare?.(use);
    },
  });
}

function encodeContext(row: SuppressedRow<unknown>, out: ByteWriter): void {
  out.writeInt64(row.timestamp);
  out.writeInt64(row.offset);
  encodeText(row.topic, out);
  out.writeInt32(row.partition);
  out.writeInt32(row.headers.length);
  for (const { key, value } of row.headers) {
    encodeText(key, out);
    out.writeInt32(value === null ? absent : value.length);
    if (value !== null) out.writeBytes(value);
  }
}

function encodeText(text: string, out: ByteWriter): void {
  const bytes = Buffer.from(text);
  out.writeInt32(bytes.length);
  out.writeBytes(bytes);
}

function encodeValue<V>(value: V | null, serde: CompiledSerde<V>, out: ByteWriter): void {
  const at = out.length;
  out.writeInt32(absent);
  if (value === null) return;
  serde.encode(value, out);
  out.buffer.writeInt32BE(out.length - at - 4, at);
}

function decodeRow<V>(reader: Reader, serde: CompiledSerde<V>): SuppressedRow<V> {
  const timestamp = reader.int64();
  const offset = reader.int64();
  const topic = reader.bytes(reader.int32()).toString();
  const partition = reader.int32();
  const headers = decodeHeaders(reader);
  const priorValue = reader.value(reader.int32(), serde);
  const oldLength = reader.int32();
  const oldValue = oldLength === sameAsPrior ? priorValue : reader.value(oldLength, serde);
  const newValue = reader.value(reader.int32(), serde);
  return { newValue, oldValue, priorValue, timestamp, topic, partition, offset, headers };
}

function decodeHeaders(reader: Reader): Headers {
  const count = reader.int32();
  if (count === 0) return noHeaders;
  const headers: Header[] = [];
  for (let i = 0; i < count; i++) {
    const key = reader.bytes(reader.int32()).toString();
    const length = reader.int32();
    headers.push({ key, value: length === absent ? null : Buffer.from(reader.bytes(length)) });
  }
  return headers;
}

class Reader {
  constructor(
    private readonly buffer: Buffer,
    private at: number,
  ) {}

  int32(): number {
    this.at += 4;
    return this.buffer.readInt32BE(this.at - 4);
  }

  int64(): number {
    this.at += 8;
    return Number(this.buffer.readBigInt64BE(this.at - 8));
  }

  bytes(length: number): Buffer {
    this.at += length;
    return this.buffer.subarray(this.at - length, this.at);
  }

  value<V>(length: number, serde: CompiledSerde<V>): V | null {
    if (length === absent) return null;
    this.at += length;
    return serde.decodeSync(this.buffer, this.at - length, this.at);
  }
}
