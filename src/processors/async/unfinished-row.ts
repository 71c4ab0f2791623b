/** A record whose result has not left at a commit, as the operator's store keeps it: whoever runs the task next calls again. */
import { ByteReader, writeHeaders, writeSized } from '../../bytes/byte-reader.js';
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { serdeOverAll } from '../../serdes/late-serde.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import type { CompiledSerde, Serde } from '../../serdes/serde.js';
import type { TakenRecord } from '../taken-record.js';

export interface UnfinishedRow<K, V> {
  readonly key: K;
  readonly value: V;
  /** ms */
  readonly timestamp: number;
  readonly record: TakenRecord;
}

/** Rows lie in order of arrival and have no key. */
export const noKeySerde: Serde<string> = inPlaceSerde({ name: 'none', encode: () => undefined, decode: () => '' });

export function unfinishedRowSerde<K, V>(keySerde: Serde<K> | null, valueSerde: Serde<V> | null): Serde<UnfinishedRow<K, V>> {
  const inner = [
    { serde: keySerde as Serde<never> | null, part: 'key' as const },
    { serde: valueSerde as Serde<never> | null, part: 'value' as const },
  ];
  const name = `unfinished(${keySerde?.name ?? 'default'}, ${valueSerde?.name ?? 'default'})`;
  return serdeOverAll(name, inner, ([key, value]) => rowSerde(name, key as CompiledSerde<K>, value as CompiledSerde<V>));
}

function rowSerde<K, V>(name: string, keySerde: CompiledSerde<K>, valueSerde: CompiledSerde<V>): Serde<UnfinishedRow<K, V>> {
  return inPlaceSerde<UnfinishedRow<K, V>>({
    name,
    encode: ({ key, value, timestamp, record }, out) => {
      out.writeDouble(timestamp);
      writeRecord(record, out);
      writePart(key, keySerde, out);
      writePart(value, valueSerde, out);
    },
    decode: (buffer, start) => {
      const reader = new ByteReader(buffer, start);
      const timestamp = reader.double();
      const record = readRecord(reader);
      return { timestamp, record, key: readPart(reader, keySerde) as K, value: readPart(reader, valueSerde) as V };
    },
  });
}

function writeRecord(record: TakenRecord, out: ByteWriter): void {
  writeSized(record.topic === null ? null : Buffer.from(record.topic), out);
  out.writeInt32(record.partition);
  out.writeDouble(record.offset);
  out.writeDouble(record.timestamp);
  writeHeaders(record.headers, out);
  out.writeInt32(record.source === null ? 0 : 1);
  if (record.source !== null) {
    writeSized(record.source.key, out);
    writeSized(record.source.value, out);
    writeHeaders(record.source.headers, out);
  }
  out.writeInt32(record.bytes);
  out.writeDouble(record.streamTime);
  out.writeDouble(record.watermark);
}

function readRecord(reader: ByteReader): TakenRecord {
  return {
    topic: reader.sized()?.toString() ?? null,
    partition: reader.int32(),
    offset: reader.double(),
    timestamp: reader.double(),
    headers: reader.headers(),
    source: reader.int32() === 0 ? null : { key: reader.sized(), value: reader.sized(), headers: reader.headers() },
    bytes: reader.int32(),
    streamTime: reader.double(),
    watermark: reader.double(),
  };
}

/** Length, −1 for null, then what the serde writes. */
function writePart<T>(part: T, serde: CompiledSerde<T>, out: ByteWriter): void {
  const at = out.length;
  out.writeInt32(-1);
  if (part === null || part === undefined) return;
  serde.encode(part, out);
  out.buffer.writeInt32BE(out.length - at - 4, at);
}

function readPart<T>(reader: ByteReader, serde: CompiledSerde<T>): T | null {
  const length = reader.int32();
  if (length < 0) return null;
  reader.at += length;
  return serde.decodeSync(reader.buffer, reader.at - length, reader.at);
}
