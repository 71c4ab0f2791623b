/**
 * The bytes of keyed state's rows in an operator's store: `<state length, state, row>`. The state's descriptor says how the row is written.
 *
 * Each value has the slot of its last update, with or without a time to live. Rows of states that the operator no longer declares keep their bytes.
 */
import type { ByteWriter } from '../../bytes/byte-writer.js';
import { isPromiseLike } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import type { Serde } from '../../serdes/serde.js';
import { keyIdentity } from './key-identity.js';
import type { ListRow, MapEntryRow, MapRow, PartRange, StateRow, ValueRow } from './keyed-state-backend.js';
import type { AnyStateDescriptor, StateDescriptor } from './state-descriptor.js';
import { serialized } from '../../serdes/serialized.js';

/** A row whose state is not declared: its bytes as they were, or none for a timer. */
export interface OpaqueRow {
  readonly state: string;
  readonly bytes: Buffer;
}

export type StoredRow = StateRow | OpaqueRow;

export function stateRowSerde(given: readonly AnyStateDescriptor[]): Serde<StoredRow> {
  const descriptors = new Map((given as readonly StateDescriptor[]).map((descriptor) => [descriptor.name, descriptor]));
  return inPlaceSerde<StoredRow>({
    name: 'stateRow',
    encode: (row, out) => {
      out.writeByte(row.state.length);
      out.writeUtf8(row.state);
      if ('bytes' in row) out.writeBytes(row.bytes);
      else encodeRow(descriptorOf(descriptors, row.state), row, out);
    },
    decode: (buffer, start, end) => {
      const at = start + 1 + (buffer[start] ?? 0);
      const state = buffer.toString('latin1', start + 1, at);
      const descriptor = descriptors.get(state);
      if (descriptor === undefined) return { state, bytes: Buffer.from(buffer.subarray(at, end)) };
      return new RowReader(buffer, at, end).read(descriptor);
    },
  });
}

function descriptorOf(descriptors: ReadonlyMap<string, StateDescriptor>, state: string): StateDescriptor {
  const descriptor = descriptors.get(state);
  if (descriptor !== undefined) return descriptor;
  throw new MillraceError('MILL_INVARIANT', `State ${state} is written and not declared.`, { details: { state } });
}

function encodeRow(descriptor: StateDescriptor, row: StateRow, out: ByteWriter): void {
  if ('entries' in row) encodeMap(descriptor, row, out);
  else if ('values' in row) encodeList(descriptor.serde, row, out);
  else {
    out.writeDouble(row.updatedAt);
    out.writeBytes(serialized(descriptor.serde, row.value));
  }
}

function encodeList(serde: Serde<unknown>, row: ListRow, out: ByteWriter): void {
  const start = out.length;
  out.writeInt32(row.values.length);
  row.values.forEach((value, i) => {
    out.writeDouble(row.updatedAt[i] ?? 0);
    writeSized(out, serialized(serde, value));
  });
  encodeParts(row.parts, out);
  row.storedBytes = out.length - start;
}

function encodeMap(descriptor: StateDescriptor, row: MapRow, out: ByteWriter): void {
  if (descriptor.kind !== 'map')
    throw new MillraceError('MILL_INVARIANT', `State ${descriptor.name} is of kind ${descriptor.kind}, not map.`);
  const start = out.length;
  out.writeInt32(row.entries.size);
  for (const { key, value, updatedAt } of row.entries.values()) {
    out.writeDouble(updatedAt);
    writeSized(out, serialized(descriptor.keySerde, key));
    writeSized(out, serialized(descriptor.serde, value));
  }
  encodeParts(row.parts, out);
  row.storedBytes = out.length - start;
}

/** Nothing when there are none: rows of one part are as they were before there were parts. */
function encodeParts(parts: PartRange | null, out: ByteWriter): void {
  if (parts === null) return;
  out.writeInt32(parts.first);
  out.writeInt32(parts.next);
}

function writeSized(out: ByteWriter, bytes: Uint8Array): void {
  out.writeInt32(bytes.length);
  out.writeBytes(bytes);
}

class RowReader {
  constructor(
    private readonly buffer: Buffer,
    private at: number,
    private readonly end: number,
  ) {}

  read(descriptor: StateDescriptor): StateRow {
    if (descriptor.kind === 'list') return this.list(descriptor.name, descriptor.serde);
    if (descriptor.kind === 'map') return this.map(descriptor.name, descriptor.keySerde, descriptor.serde);
    const updatedAt = this.double();
    const row: ValueRow = { state: descriptor.name, value: decoded(descriptor.serde, this.buffer.subarray(this.at, this.end)), updatedAt };
    return row;
  }

  private list(state: string, serde: Serde<unknown>): ListRow {
    const row: ListRow = { state, values: [], updatedAt: [], parts: null, storedBytes: this.end - this.at };
    for (let left = this.int32(); left > 0; left--) {
      row.updatedAt.push(this.double());
      row.values.push(decoded(serde, this.sized()));
    }
    row.parts = this.parts();
    return row;
  }

  private map(state: string, keySerde: Serde<unknown>, serde: Serde<unknown>): MapRow {
    const storedBytes = this.end - this.at;
    const entries = new Map<unknown, MapEntryRow>();
    for (let left = this.int32(); left > 0; left--) {
      const updatedAt = this.double();
      const key = decoded(keySerde, this.sized());
      entries.set(keyIdentity(key, keySerde), { key, value: decoded(serde, this.sized()), updatedAt });
    }
    return { state, entries, parts: this.parts(), storedBytes };
  }

  private parts(): PartRange | null {
    return this.at < this.end ? { first: this.int32(), next: this.int32() } : null;
  }

  private int32(): number {
    this.at += 4;
    return this.buffer.readInt32BE(this.at - 4);
  }

  private double(): number {
    this.at += 8;
    return this.buffer.readDoubleBE(this.at - 8);
  }

  private sized(): Buffer {
    const length = this.int32();
    this.at += length;
    return this.buffer.subarray(this.at - length, this.at);
  }
}

/** The bytes are copied: the serde may keep a view, and the buffer is used again. */
function decoded(serde: Serde<unknown>, bytes: Buffer): unknown {
  const value = serde.deserialize(Buffer.from(bytes));
  if (!isPromiseLike(value)) return value;
  throw new MillraceError('MILL_SERDE', `Serde ${serde.name} gave a promise where the value is needed at once (in keyed state).`);
}
