/**
 * Lists of values in one store row, for rows that several records share: a byte 1 (entries of any length), the count, then each entry's length and bytes,
 * as Kafka Streams' `ListSerde` of byte arrays writes them.
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { Serde } from './serde.js';
import { cannotDeserialize } from './serde-error.js';

const variableSize = 1;

export interface EntryCodec<T> {
  readonly name: string;
  encode(value: T, out: ByteWriter): void;
  decodeSync(buffer: Buffer, start: number, end: number): T;
}

export function valueListSerde<T>(entry: EntryCodec<T>): Serde<readonly T[]> {
  const name = `list(${entry.name})`;
  return inPlaceSerde<readonly T[]>({
    name,
    encode: (values, out) => {
      out.writeByte(variableSize);
      out.writeInt32(values.length);
      for (const value of values) {
        const lengthAt = out.length;
        out.writeInt32(0);
        entry.encode(value, out);
        out.buffer.writeInt32BE(out.length - lengthAt - 4, lengthAt);
      }
    },
    decode: (buffer, start, end) => {
      if (end - start < 5 || buffer[start] !== variableSize)
        throw cannotDeserialize(name, buffer, start, end, new Error('not a list of entries of any length'));
      const values: T[] = [];
      let at = start + 5;
      for (let left = buffer.readInt32BE(start + 1); left > 0; left--) {
        const next = at + 4 + buffer.readInt32BE(at);
        if (next > end) throw cannotDeserialize(name, buffer, start, end, new Error('an entry ends after the list'));
        values.push(entry.decodeSync(buffer, at + 4, next));
        at = next;
      }
      return values;
    },
  });
}
