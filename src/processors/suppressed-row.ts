/** A change held back by `suppress`, with what belongs to the record that brought it: results leave as if they had come from that record. */
import { ByteReader, writeHeaders, writeSized } from '../bytes/byte-reader.js';
import type { Headers } from '../bytes/headers.js';
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
    decode: (buffer, start) => decodeRow(new ByteReader(buffer, start), value),
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
  writeSized(Buffer.from(row.topic), out);
  out.writeInt32(row.partition);
  writeHeaders(row.headers, out);
}

function encodeValue<V>(value: V | null, serde: CompiledSerde<V>, out: ByteWriter): void {
  const at = out.length;
  out.writeInt32(absent);
  if (value === null) return;
  serde.encode(value, out);
  out.buffer.writeInt32BE(out.length - at - 4, at);
}

function decodeRow<V>(reader: ByteReader, serde: CompiledSerde<V>): SuppressedRow<V> {
  const timestamp = reader.int64();
  const offset = reader.int64();
  const topic = reader.sized()?.toString() ?? '';
  const partition = reader.int32();
  const headers = reader.headers();
  const priorValue = decodeValue(reader, reader.int32(), serde);
  const oldLength = reader.int32();
  const oldValue = oldLength === sameAsPrior ? priorValue : decodeValue(reader, oldLength, serde);
  const newValue = decodeValue(reader, reader.int32(), serde);
  return { newValue, oldValue, priorValue, timestamp, topic, partition, offset, headers };
}

function decodeValue<V>(reader: ByteReader, length: number, serde: CompiledSerde<V>): V | null {
  if (length === absent) return null;
  reader.at += length;
  return serde.decodeSync(reader.buffer, reader.at - length, reader.at);
}
