/**
 * Changes of a table on a repartition topic, as Kafka Streams 3.5 and newer write them (KIP-904): the value, or both values, and a last byte that says which.
 *
 *   old 0 · new 1 · varint length of new, new, old 2; 3, 4 and 5 are the same with one more byte before the last, whether the change is the latest one.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { compileSerde } from '../serdes/compile-serde.js';
import { inPlaceSerde } from '../serdes/in-place-serde.js';
import type { CompiledSerde, Serde, SerdeUse } from '../serdes/serde.js';
import { Change } from './operator.js';

const oldOnly = 0;
const newOnly = 1;
const both = 2;
/** From here on there is a byte that says whether the change is the latest. */
const withLatest = 3;

export function changeSerde<V>(valueSerde: Serde<V>): Serde<Change<V>> {
  const value = compileSerde(valueSerde);
  // Used by one call at a time: no serde calls another change's serde.
  const scratch = new ByteWriter(64);
  const serde = inPlaceSerde<Change<V>>({
    name: `change(${value.name})`,
    encode: (change, out) => encodeChange(change, value, scratch, out),
    decode: (buffer, start, end) => decodeChange(buffer, start, end, value),
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await valueSerde.prepare?.(use);
    },
  });
}

function encodeChange<V>({ newValue, oldValue }: Change<V>, value: CompiledSerde<V>, scratch: ByteWriter, out: ByteWriter): void {
  if (newValue === null && oldValue === null) throw new Error('a change from nothing to nothing');
  if (newValue === null) {
    value.encode(oldValue as V, out);
    out.writeByte(oldOnly);
  } else if (oldValue === null) {
    value.encode(newValue, out);
    out.writeByte(newOnly);
  } else {
    scratch.reset();
    value.encode(newValue, scratch);
    out.writeVarint(scratch.length);
    out.writeBytes(scratch.view());
    value.encode(oldValue, out);
    out.writeByte(both);
  }
}

function decodeChange<V>(buffer: Buffer, start: number, end: number, value: CompiledSerde<V>): Change<V> {
  if (end <= start) throw new Error('no bytes');
  const flag = buffer[end - 1] as number;
  if (flag > both + withLatest) throw new Error(`unknown kind of change ${flag}`);
  const kind = flag % withLatest;
  const valuesEnd = flag < withLatest ? end - 1 : end - 2;
  const isLatest = flag < withLatest || buffer[end - 2] === 1;
  if (kind === oldOnly) return new Change<V>(null, value.decodeSync(buffer, start, valuesEnd), isLatest);
  if (kind === newOnly) return new Change<V>(value.decodeSync(buffer, start, valuesEnd), null, isLatest);
  let at = start;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = buffer[at++] as number;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  const newEnd = at + length / 2;
  return new Change(value.decodeSync(buffer, at, newEnd), value.decodeSync(buffer, newEnd, valuesEnd), isLatest);
}
