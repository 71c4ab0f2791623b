/** As `ChangeList`, for entries of rows that hold lists: what changed since the last drain, in order of first change, with the values before. */
import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { CompiledSerde } from '../serdes/serde.js';
import { ChangeComparison } from './change-comparison.js';
import type { Entry } from './entry.js';

type Visit<K, V> = (change: EntryChange<K, V>) => void | Promise<void>;

interface Noted<K, V> {
  readonly key: K;
  readonly entry: Entry<V>;
  readonly before: V | Buffer | null;
}

export class EntryChanges<K, V> {
  /** Raised by every drain. */
  generation = 1;
  private noted: Noted<K, V>[] = [];
  private readonly scratch = new ByteWriter(256);

  private readonly comparison: ChangeComparison | null;

  constructor(
    private readonly valueSerde: CompiledSerde<unknown>,
    compares: boolean,
  ) {
    this.comparison = compares ? new ChangeComparison(valueSerde) : null;
  }

  /** Before an entry's value goes out to a user, who may change it in place. */
  capture(entry: Entry<V>): void {
    const { value } = entry;
    if (entry.captureStamp === this.generation || this.isKnown(entry) || typeof value !== 'object' || value === null) return;
    entry.captureStamp = this.generation;
    this.scratch.reset();
    this.valueSerde.encode(value, this.scratch);
    entry.captured = this.scratch.copy();
  }

  /** Before a write. */
  add(key: K, entry: Entry<V>): void {
    if (entry.changeStamp === this.generation) return;
    const encoded = entry.captured !== null && (entry.captureStamp === this.generation || this.isKnown(entry));
    entry.changeStamp = this.generation;
    entry.captureStamp = this.generation;
    this.noted.push({ key, entry, before: encoded ? entry.captured : entry.value });
    entry.captured = null;
  }

  /** Entries that came and went in between are left out. */
  drain(visit: Visit<K, V>): void | Promise<void> {
    const { noted } = this;
    if (noted.length === 0) return;
    this.noted = [];
    this.generation++;
    for (let i = 0; i < noted.length; i++) {
      const change = this.changeOf(noted[i] as Noted<K, V>);
      const done = change === null ? undefined : visit(change);
      if (isPromiseLike(done)) return this.drainRest(done, noted, i + 1, visit);
    }
  }

  private async drainRest(first: Promise<void>, noted: readonly Noted<K, V>[], from: number, visit: Visit<K, V>): Promise<void> {
    await first;
    for (let i = from; i < noted.length; i++) {
      const change = this.changeOf(noted[i] as Noted<K, V>);
      if (change !== null) await visit(change);
    }
  }

  /** Whether the bytes as of the last drain are still at hand. */
  private isKnown(entry: Entry<V>): boolean {
    return this.comparison !== null && entry.captured !== null;
  }

  private changeOf({ key, entry, before }: Noted<K, V>): EntryChange<K, V> | null {
    if (this.comparison?.isUnchanged(entry, before) === true) return null;
    return entry.value === null && before === null ? null : new EntryChange(key, entry, before, this.valueSerde);
  }
}

/** What `drainChanges` of sessions and of sliding windows hands over. */
export class EntryChange<K, V> {
  readonly value: V | null;
  readonly timestamp: number;
  readonly time: number;
  readonly second: number;
  private old: V | Buffer | null;
  private encoded: boolean;

  constructor(
    readonly key: K,
    entry: Entry<V>,
    before: V | Buffer | null,
    private readonly valueSerde: CompiledSerde<unknown>,
  ) {
    this.value = entry.value;
    this.timestamp = entry.timestamp;
    this.time = entry.time;
    this.second = entry.second;
    this.old = before;
    this.encoded = typeof before === 'object' && before !== null;
  }

  /** Sessions. */
  get start(): number {
    return this.second;
  }

  get end(): number {
    return this.time;
  }

  /** Sliding windows. */
  get windowStart(): number {
    return this.time;
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
