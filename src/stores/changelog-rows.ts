import type { ByteWriter } from '../bytes/byte-writer.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { EngineBatch } from './engine/engine.js';
import { Row } from './row.js';
import type { RowTable } from './row-table.js';

/** How the bytes of a row read. */
export interface RowFormat<K, V> {
  readonly keySerde: CompiledSerde<unknown>;
  /** Keys are told apart as they are, not by their bytes. */
  readonly identity: boolean;
  /** The engine keeps a timestamp in front of the value. */
  readonly timestamped: boolean;
  valueOf(key: K, bytes: Buffer, start: number, end: number): V;
  /** Bytes that a row takes in memory. */
  rowBytes(keyBytes: number, valueBytes: number): number;
}

/**
 * Restores rows of which a changelog record is the whole: puts it into the engine's batch, or into the table where rows live in memory alone. Each call returns by how much the number of
 * entries changes; with an engine an estimate, since it is not asked what it had.
 */
export class ChangelogRows<K, V> {
  constructor(
    private readonly format: RowFormat<K, V>,
    private readonly scratch: ByteWriter,
  ) {}

  intoEngine(
    table: RowTable<K, V>,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    batch: EngineBatch,
  ): 1 | -1 {
    const out = this.scratch;
    out.reset();
    out.writeBytes(table.prefix);
    out.writeBytes(key, keyStart, keyEnd);
    const split = out.length;
    table.mayMiss = true;
    if (table.rows.size > 0) this.forgetCached(table, key, keyStart, keyEnd);
    if (value === null) {
      batch.delete(out.view());
      return -1;
    }
    if (!this.format.timestamped) {
      batch.put(out.view(), value.subarray(valueStart, valueEnd));
      return 1;
    }
    out.writeInt64(timestamp);
    out.writeBytes(value, valueStart, valueEnd);
    batch.put(out.buffer.subarray(0, split), out.buffer.subarray(split, out.length));
    return 1;
  }

  intoMemory(
    table: RowTable<K, V>,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): 1 | 0 | -1 {
    const { format } = this;
    const decoded = format.keySerde.decodeSync(key, keyStart, keyEnd) as K;
    const hash = format.identity ? decoded : key.toString('latin1', keyStart, keyEnd);
    const present = table.rows.get(hash);
    if (value === null) {
      if (present === undefined) return 0;
      table.unlink(present);
      return -1;
    }
    const size = format.rowBytes(keyEnd - keyStart, valueEnd - valueStart);
    const row = present ?? new Row<K, V>(decoded, hash, table, size);
    if (present === undefined) table.link(row);
    else table.resize(row, size);
    row.timestamp = timestamp;
    row.value = format.valueOf(decoded, value, valueStart, valueEnd);
    row.captured = null;
    return present === undefined ? 1 : 0;
  }

  /** A row that somebody read before (a query on a standby) must not hide what the engine gets. */
  private forgetCached(table: RowTable<K, V>, key: Buffer, keyStart: number, keyEnd: number): void {
    const { keySerde, identity } = this.format;
    const hash = identity ? keySerde.decodeSync(key, keyStart, keyEnd) : key.toString('latin1', keyStart, keyEnd);
    const row = table.rows.get(hash);
    if (row?.pins === 0) table.unlink(row);
  }
}
