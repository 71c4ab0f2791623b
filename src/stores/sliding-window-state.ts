/** The store of windows that may start at any time. A window lies in the segment of its start. Changelog as window stores: key bytes, 8-byte start, 4-byte sequence 0. */
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { Entry } from './entry.js';
import type { EntryChange } from './entry-changes.js';
import { EntryListState } from './entry-list-state.js';
import type { SlidingWindowRow, SlidingWindowStore } from './store.js';
import type { StoreEnvironment } from './store-environment.js';
import { changelogSuffixBytes, startInChangelogKey } from './window-key.js';

export class SlidingWindowState<K, V> extends EntryListState<K, V> implements SlidingWindowStore<K, V> {
  readonly windowSize: number;
  protected readonly suffixBytes = changelogSuffixBytes;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.windowSize = environment.spec.windowSize ?? 0;
  }

  rows(key: K, from: number, to: number): readonly SlidingWindowRow<V>[] {
    return this.collect(key, from, to, (entry) => this.rowFrom(entry));
  }

  fetch(key: K, windowStart: number): SlidingWindowRow<V> | null {
    const entry = this.findEntry(key, windowStart, 0);
    return entry === null ? null : this.rowFrom(entry);
  }

  put(key: K, windowStart: number, value: V | null, timestamp: number): void {
    this.putEntry(key, windowStart, 0, value, timestamp);
  }

  async *fetchAll(from: number, to: number): AsyncGenerator<readonly [K, SlidingWindowRow<V>], undefined> {
    for await (const [key, entry] of this.visibleEntries(from, to)) yield [key, this.rowFrom(entry)];
  }

  drainChanges(visit: (change: EntryChange<K, V>) => void | Promise<void>): void | Promise<void> {
    return this.drainEntryChanges(visit);
  }

  drainClosed(upToStart: number, visit: (key: K, row: SlidingWindowRow<V>) => void | Promise<void>): void | Promise<void> {
    return this.drainClosedEntries(upToStart, (key, entry) => visit(key, this.rowFrom(entry)));
  }

  private rowFrom(entry: Entry<V>): SlidingWindowRow<V> {
    this.entryChanges?.capture(entry);
    return { windowStart: entry.time, value: entry.value as V, timestamp: entry.timestamp };
  }

  protected writeSuffix(entry: Entry<V>, out: ByteWriter): void {
    out.writeInt64(entry.time);
    out.writeInt32(0);
  }

  protected mergeEntry(timestamp: number, key: Buffer, keyStart: number, keyEnd: number, value: V | null): void {
    const decoded = this.keySerde.decodeSync(key, keyStart, keyEnd - changelogSuffixBytes) as K;
    this.restoreEntry(decoded, startInChangelogKey(key, keyEnd), 0, value, timestamp);
  }
}
