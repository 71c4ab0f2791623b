/**
 * Lists of values of one serde, in the bytes of Java's `ListSerde`. Values of equal length follow each other: a byte 0, which of them are null, how many there are, and the
 * bytes of the others. All others have their length before them, -1 for null: a byte 1, how many there are, then each.
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { doubleSerde } from './double.js';
import { floatSerde } from './float.js';
import { inPlaceSerde } from './in-place-serde.js';
import { int16Serde } from './int16.js';
import { int32Serde } from './int32.js';
import { int64Serde } from './int64.js';
import { requireSerde } from './checked-serde.js';
import type { Serde, SerdeUse } from './serde.js';
import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { uuidSerde } from './uuid.js';
import { serialized } from './serialized.js';

const constantSize = 0;
const variableSize = 1;

/** Bytes of a value, where all have equally many. */
const sizes: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  [int16Serde, 2],
  [int32Serde, 4],
  [floatSerde, 4],
  [int64Serde, 8],
  [doubleSerde, 8],
  [uuidSerde, 36],
]);

/** Elements that are null are written and read as such, whatever the type says. @throws MILL_TOPOLOGY_INVALID when the serde is none */
export function elementListSerde<V>(element: Serde<V>): Serde<readonly V[]> {
  requireSerde('serdes.list', element, 'elements');
  const name = `list(${element.name})`;
  const size = sizes.get(element) ?? null;
  const read = (buffer: Buffer, start: number, end: number): V => {
    const value = element.deserialize(buffer.subarray(start, end));
    if (isPromiseLike(value)) throw cannotDeserialize(name, buffer, start, end, new Error(`${element.name} gives a promise`));
    return value;
  };
  const serde = inPlaceSerde<readonly V[]>({
    name,
    encode: (values, out) => {
      if (!Array.isArray(values)) throw cannotSerialize(name, values);
      if (size === null) writeVariable(values, element, out);
      else writeConstant(values, element, out);
    },
    decode: (buffer, start, end) => {
      try {
        const form = buffer.readUInt8(start);
        if (form !== (size === null ? variableSize : constantSize)) throw new Error(`a list of another form, ${form}`);
        return size === null
          ? readVariable(buffer.subarray(0, end), start + 1, read)
          : readConstant(buffer.subarray(0, end), start + 1, size, read);
      } catch (error) {
        throw cannotDeserialize(name, buffer, start, end, error);
      }
    },
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await element.prepare?.(use);
    },
  });
}

function writeVariable<V>(values: readonly V[], element: Serde<V>, out: ByteWriter): void {
  out.writeByte(variableSize);
  out.writeInt32(values.length);
  for (const value of values) {
    if (isAbsent(value)) out.writeInt32(-1);
    else {
      const bytes = serialized(element, value);
      out.writeInt32(bytes.length);
      out.writeBytes(bytes);
    }
  }
}

function writeConstant<V>(values: readonly V[], element: Serde<V>, out: ByteWriter): void {
  out.writeByte(constantSize);
  const absent = values.flatMap((value, index) => (isAbsent(value) ? [index] : []));
  out.writeInt32(absent.length);
  for (const index of absent) out.writeInt32(index);
  out.writeInt32(values.length);
  for (const value of values) if (!isAbsent(value)) out.writeBytes(serialized(element, value));
}

type Read<V> = (buffer: Buffer, start: number, end: number) => V;

function readVariable<V>(buffer: Buffer, start: number, read: Read<V>): V[] {
  const values: V[] = [];
  let at = start + 4;
  for (let left = buffer.readInt32BE(start); left > 0; left--) {
    const length = buffer.readInt32BE(at);
    at += 4;
    if (length < 0) {
      values.push(null as V);
      continue;
    }
    values.push(read(buffer, at, within(buffer, at + length)));
    at += length;
  }
  return values;
}

function readConstant<V>(buffer: Buffer, start: number, size: number, read: Read<V>): V[] {
  const absent = new Set<number>();
  let at = start + 4;
  for (let left = buffer.readInt32BE(start); left > 0; left--, at += 4) absent.add(buffer.readInt32BE(at));
  const count = buffer.readInt32BE(at);
  at += 4;
  const values: V[] = [];
  for (let index = 0; index < count; index++) {
    if (absent.has(index)) values.push(null as V);
    else {
      values.push(read(buffer, at, within(buffer, at + size)));
      at += size;
    }
  }
  return values;
}

function within(buffer: Buffer, end: number): number {
  if (end > buffer.length) throw new Error('an element ends after the list');
  return end;
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}
