/**
 * How rows of a time-ordered buffer stand in engine and changelog.
 *
 *   by time  key: 8-byte time, 1-byte rank, key bytes (Kafka Streams' TimestampedKeyAndJoinSide, with rank 0 the right side)   value: as it is
 *   by key   key: key bytes                                                                                                   value: 8-byte time, 1-byte rank, value
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { CompiledSerde } from '../serdes/serde.js';

export interface BufferKey<K> {
  readonly time: number;
  readonly rank: number;
  readonly key: K;
}

export interface BufferedValue<V> {
  readonly time: number;
  readonly rank: number;
  readonly value: V;
}

export const placeBytes = 9;

export function readTime(bytes: Buffer, at: number): number {
  return Number(bytes.readBigInt64BE(at));
}

export function readRank(bytes: Buffer, at: number): number {
  return bytes[at + placeBytes - 1] as number;
}

/** Keys are told apart by their bytes: the objects around them are made anew for every call. */
export function bufferKeySerde(inner: CompiledSerde<unknown>, byKey: boolean): CompiledSerde<unknown> {
  const offset = byKey ? 0 : placeBytes;
  const decode = (buffer: Buffer, start: number, end: number): BufferKey<unknown> => ({
    time: byKey ? -1 : readTime(buffer, start),
    rank: byKey ? 0 : readRank(buffer, start),
    key: inner.decodeSync(buffer, start + offset, end),
  });
  return {
    name: inner.name,
    serde: inner.serde,
    valueIsIdentity: false,
    total: false,
    encode: (value, out) => {
      const { time, rank, key } = value as BufferKey<unknown>;
      if (!byKey) writePlace(time, rank, out);
      inner.encode(key, out);
    },
    decode,
    decodeSync: decode,
  };
}

export function bufferValueSerde(inner: CompiledSerde<unknown>, byKey: boolean): CompiledSerde<unknown> {
  const offset = byKey ? placeBytes : 0;
  const decode = (buffer: Buffer, start: number, end: number): BufferedValue<unknown> => ({
    time: byKey ? readTime(buffer, start) : -1,
    rank: byKey ? readRank(buffer, start) : 0,
    value: inner.decodeSync(buffer, start + offset, end),
  });
  return {
    name: inner.name,
    serde: inner.serde,
    valueIsIdentity: false,
    total: false,
    encode: (stored, out) => {
      const { time, rank, value } = stored as BufferedValue<unknown>;
      if (byKey) writePlace(time, rank, out);
      inner.encode(value, out);
    },
    decode,
    decodeSync: decode,
  };
}

function writePlace(time: number, rank: number, out: ByteWriter): void {
  out.writeInt64(time);
  out.writeByte(rank);
}
