/** The session store. A session lies in the segment of its end. Changelog key: key bytes, 8-byte end, 8-byte start (Kafka Streams' SessionKeySchema). */
import type { ByteWriter } from '../bytes/byte-writer.js';
import type { Entry } from './entry.js';
import type { EntryChange } from './entry-changes.js';
import { EntryListState } from './entry-list-state.js';
import type { SessionRow, SessionStore } from './store.js';
import type { StoreEnvironment } from './store-environment.js';

export class SessionState<K, V> extends EntryListState<K, V> implements SessionStore<K, V> {
  protected readonly suffixBytes = 16;
  private readonly recordTimestamp: () => number;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.recordTimestamp = () => environment.recordTimestamp();
  }

  /** Session ends, not the timestamps of the records that wrote them. */
  override observedTime(): number {
    return this.observed;
  }

  findSessions(key: K, earliestEnd: number, latestStart: number): readonly SessionRow<V>[] {
    return this.collect(key, earliestEnd, Infinity, (entry) => (entry.second <= latestStart ? this.sessionOf(entry) : null));
  }

  fetchSession(key: K, start: number, end: number): V | null {
    const entry = this.findEntry(key, end, start);
    if (entry === null) return null;
    this.entryChanges?.capture(entry);
    return entry.value;
  }

  put(key: K, start: number, end: number, value: V | null): void {
    this.putEntry(key, end, start, value, this.recordTimestamp());
  }

  async *fetchAll(): AsyncGenerator<readonly [K, SessionRow<V>], undefined> {
    for await (const [key, entry] of this.visibleEntries(-Infinity, Infinity)) yield [key, this.sessionOf(entry)];
  }

  drainChanges(visit: (change: EntryChange<K, V>) => void | Promise<void>): void | Promise<void> {
    return this.drainEntryChanges(visit);
  }

  drainClosed(upToEnd: number, visit: (key: K, row: SessionRow<V>) => void | Promise<void>): void | Promise<void> {
    return this.drainClosedEntries(upToEnd, (key, entry) => visit(key, this.sessionOf(entry)));
  }

  private sessionOf(entry: Entry<V>): SessionRow<V> {
    this.entryChanges?.capture(entry);
    return { start: entry.second, end: entry.time, value: entry.value as V };
  }

  protected writeSuffix(entry: Entry<V>, out: ByteWriter): void {
    out.writeInt64(entry.time);
    out.writeInt64(entry.second);
  }

  protected mergeEntry(timestamp: number, key: Buffer, keyStart: number, keyEnd: number, value: V | null): void {
    const suffix = keyEnd - this.suffixBytes;
    const end = Number(key.readBigInt64BE(suffix));
    const start = Number(key.readBigInt64BE(suffix + 8));
    this.restoreEntry(this.keySerde.decodeSync(key, keyStart, suffix) as K, end, start, value, timestamp);
  }
}
