/**
 * The rows changed since the last drain, for `emit: 'onCommit'`: each row once, in order of its first change, with its value before that.
 *
 * Values that are objects may be changed in place by a user's aggregator, so their old value is kept as bytes taken when the row was located, before
 * the user could touch it, and decoded only when somebody reads `before`. A list that compares leaves out rows that are as they were, and keeps the
 * bytes from drain to drain.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { CompiledSerde } from '../serdes/serde.js';
import { ByteWriter } from '../bytes/byte-writer.js';
import { ChangeComparison } from './change-comparison.js';
import type { Row } from './row.js';
import type { StoreChange } from './store.js';

export type WindowedStoreChange<K, V> = StoreChange<K, V> & { readonly windowStart: number };
type Visit<K, V> = (change: WindowedStoreChange<K, V>) => void | Promise<void>;

export class ChangeList<K, V> {
  /** Raised by every drain: a row whose stamp is lower is not in the list yet. */
  generation = 1;
  private rows: Row<K, V>[] = [];
  private befores: (V | Buffer | null)[] = [];
  private readonly scratch = new ByteWriter(256);

  private readonly comparison: ChangeComparison | null;

  constructor(
    private readonly valueSerde: CompiledSerde<unknown>,
    compares: boolean,
  ) {
    this.comparison = compares ? new ChangeComparison(valueSerde) : null;
  }

  /** Before a row goes out to be changed. */
  capture(row: Row<K, V>): void {
    if (row.captureStamp === this.generation || this.isKnown(row)) return;
    const { value } = row;
    if (typeof value !== 'object' || value === null) return;
    row.captureStamp = this.generation;
    this.scratch.reset();
    this.valueSerde.encode(value, this.scratch);
    row.captured = this.scratch.copy();
  }

  /** Before the first write of a row since the last drain. */
  add(row: Row<K, V>): void {
    const encoded = row.captured !== null && (row.captureStamp === this.generation || this.isKnown(row));
    row.changeStamp = this.generation;
    row.captureStamp = this.generation;
    this.rows.push(row);
    this.befores.push(encoded ? row.captured : row.value);
    row.captured = null;
  }

  drain(visit: Visit<K, V>): void | Promise<void> {
    const { rows, befores } = this;
    if (rows.length === 0) return;
    this.rows = [];
    this.befores = [];
    this.generation++;
    if (this.comparison !== null) leaveOutUnchanged(this.comparison, rows, befores);
    return this.visitFrom(rows, befores, 0, visit);
  }

  /** Whether the bytes as of the last drain are still at hand. */
  private isKnown(row: Row<K, V>): boolean {
    return this.comparison !== null && row.captured !== null;
  }

  private visitFrom(rows: Row<K, V>[], befores: (V | Buffer | null)[], from: number, visit: Visit<K, V>): void | Promise<void> {
    const change = new Change<K, V>(this.valueSerde);
    for (let i = from; i < rows.length; i++) {
      change.set(rows[i] as Row<K, V>, befores[i] as V | Buffer | null);
      const done = visit(change);
      if (isPromiseLike(done)) return this.visitRest(done, rows, befores, i + 1, visit);
    }
  }

  private async visitRest(
    first: Promise<void>,
    rows: Row<K, V>[],
    befores: (V | Buffer | null)[],
    from: number,
    visit: Visit<K, V>,
  ): Promise<void> {
    await first;
    const change = new Change<K, V>(this.valueSerde);
    for (let i = from; i < rows.length; i++) {
      change.set(rows[i] as Row<K, V>, befores[i] as V | Buffer | null);
      await visit(change);
    }
  }
}

function leaveOutUnchanged<K, V>(comparison: ChangeComparison, rows: Row<K, V>[], befores: (V | Buffer | null)[]): void {
  let changed = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as Row<K, V>;
    const before = befores[i] as V | Buffer | null;
    if (comparison.isUnchanged(row, before)) continue;
    rows[changed] = row;
    befores[changed++] = before;
  }
  rows.length = changed;
  befores.length = changed;
}

/** One object a drain, valid until the next row is visited. */
class Change<K, V> implements WindowedStoreChange<K, V> {
  key!: K;
  value: V | null = null;
  timestamp = -1;
  windowStart = 0;
  private old: V | Buffer | null = null;
  private encoded = false;

  constructor(private readonly valueSerde: CompiledSerde<unknown>) {}

  set(row: Row<K, V>, before: V | Buffer | null): void {
    this.key = row.key;
    this.value = row.value;
    this.timestamp = row.value === null ? row.deletedAt : row.timestamp;
    this.windowStart = row.windowStart;
    this.old = before;
    this.encoded = typeof before === 'object' && before !== null;
  }

  get before(): V | null {
    if (this.encoded) {
      const bytes = this.old as Buffer;
      this.old = this.valueSerde.decodeSync(bytes, 0, bytes.length) as V;
      this.encoded = false;
    }
    return this.old as V | null;
  }
}
