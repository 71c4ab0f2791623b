/**
 * Stores whose rows are lists of entries by time: sessions, sliding windows. An entry lies in the segment of its `time`.
 *
 * Entries with `time < observed − retention + 1` are expired: they read as absent, writes to them are dropped and counted (Kafka Streams' rule). They leave
 * their rows at the next freeze of these, the rest with their segment; with `closeTracking` not before `drainClosed` gave them out.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { CloseIndex } from './close-index.js';
import { Entry, firstAtOrAbove } from './entry.js';
import { EntryChanges } from './entry-changes.js';
import type { EntryChange } from './entry-changes.js';
import type { FrozenLayer } from './frozen-layer.js';
import { mergeByKey } from './merge-by-key.js';
import type { Row } from './row.js';
import { SegmentedState } from './segmented-state.js';
import type { ChangelogSink, StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { scanPages } from './table-scan.js';

const everyKey = { from: null, to: null, reverse: false } as const;
/** Bytes that an entry adds to the active epoch, estimated. */
const entryBytes = 150;
/** time, second, timestamp as doubles, which are exact for all times; length of the value. */
const entryHeaderBytes = 28;

type List<V> = Entry<V>[];

export abstract class EntryListState<K, V> extends SegmentedState<K, List<V>> {
  readonly retention: number;
  protected readonly entryChanges: EntryChanges<K, V> | null;
  private readonly closing: CloseIndex<K> | null;
  /** So far below the highest time seen entries are visible, ms. */
  private readonly reach: number;
  private logKeys: K[] = [];
  private logEntries: List<V> = [];
  private readonly logKey = new ByteWriter(256);
  private readonly logValue = new ByteWriter(256);

  constructor(environment: StoreEnvironment) {
    super(environment);
    const { spec } = environment;
    this.retention = spec.retention ?? 0;
    this.entryChanges = spec.trackChanges === true ? new EntryChanges<K, V>(environment.valueSerde, this.comparesChanges) : null;
    this.closing = spec.closeTracking === true ? new CloseIndex<K>() : null;
    // Sliding windows that are told when they close are in a store by time in Kafka Streams, which has what is exactly as old as its retention.
    this.reach = this.closing !== null && spec.kind === 'slidingWindow' ? this.retention : this.retention - 1;
  }

  /** Writes what follows the key in the changelog. */
  protected abstract writeSuffix(entry: Entry<V>, out: ByteWriter): void;

  observedTime(): number {
    return this.highestTime;
  }

  /** Lowest time that is visible. */
  protected get minLive(): number {
    return this.observed - this.reach;
  }

  // ---- writes

  /** null removes; time goes on with what is there alone, since a removal of nothing leaves no trace for a restore. */
  protected putEntry(key: K, time: number, second: number, value: V | null, timestamp: number): void {
    if (time > this.observed && value !== null) this.observed = time;
    // With `closeTracking` what was not given out yet may still be written, though nobody sees it before it is.
    if (time < this.minLive && (this.closing === null || time <= this.closedUpTo)) {
      this.assertOpen();
      this.expiredWrites++;
      return;
    }
    this.applyEntry(key, time, second, value, timestamp);
  }

  /** For writes and restore alike. */
  protected applyEntry(key: K, time: number, second: number, value: V | null, timestamp: number): void {
    const located = this.locateIn(this.tables.open(this.segmentOf(time)), key);
    const at = located.value === null ? 0 : firstAtOrAbove(located.value, time, second);
    const found = located.value?.[at];
    const present = found?.time === time && found.second === second ? found : null;
    if (value === null && (present === null || present.value === null)) return;
    this.writeEntry(located, at, present, time, second, value, timestamp);
  }

  protected writeEntry(
    located: Row<K, List<V>>,
    at: number,
    present: Entry<V> | null,
    time: number,
    second: number,
    value: V | null,
    timestamp: number,
  ): void {
    const row = this.touch(located);
    let entry = present;
    if (entry === null) {
      entry = new Entry<V>(time, second, this.generation);
      const list = row.value;
      // An array that begins with its element has room for no other: most lists stay that short.
      if (list === null) row.value = [entry];
      else if (at === list.length) list.push(entry);
      else list.splice(at, 0, entry);
    }
    if (this.restoring) entry.captured = null;
    else if (this.entryChanges !== null) this.entryChanges.add(row.key, entry);
    if (this.closing !== null && (entry.value === null) !== (value === null)) this.trackClose(row.key, entry, value);
    if (entry.stamp !== this.generation) {
      entry.stamp = this.generation;
      this.activeBytes += entryBytes;
      this.logKeys.push(row.key);
      this.logEntries.push(entry);
    }
    if ((entry.value === null) !== (value === null)) this.counted.add(row.table, value === null ? -1 : 1);
    entry.value = value;
    entry.timestamp = timestamp;
    if (timestamp > this.highestTime) this.highestTime = timestamp;
  }

  private trackClose(key: K, { time, second }: Entry<V>, value: V | null): void {
    if (this.closing === null || time <= this.closedUpTo) return;
    const place = { time, second, order: this.keyOrder(key), key };
    if (value === null) this.closing.delete(place);
    else this.closing.add(place);
  }

  // ---- reads

  /** Visible entries of one key with `from <= time <= to` in order. `take` is not called for those that it must not see. */
  protected collect<T>(key: K, from: number, to: number, take: (entry: Entry<V>) => T | null): T[] {
    this.assertOpen();
    const found: T[] = [];
    const first = Math.max(from, this.minLive);
    const { all } = this.tables;
    const hash = this.identity ? key : this.hashOf(key);
    for (let i = this.tables.indexFrom(this.segmentOf(first)); i < all.length; i++) {
      const start = all[i] as number;
      if (start > to) break;
      const list = this.listOf(key, start, hash);
      if (list === null) continue;
      for (let j = firstAtOrAbove(list, first, -Infinity); j < list.length; j++) {
        const entry = list[j] as Entry<V>;
        if (entry.time > to) break;
        const taken = entry.value === null ? null : take(entry);
        if (taken !== null) found.push(taken);
      }
    }
    return found;
  }

  protected findEntry(key: K, time: number, second: number): Entry<V> | null {
    this.assertOpen();
    return time < this.minLive ? null : this.entryAt(key, time, second);
  }

  private entryAt(key: K, time: number, second: number): Entry<V> | null {
    const list = this.listOf(key, this.segmentOf(time));
    const entry = list?.[firstAtOrAbove(list, time, second)];
    return entry === undefined || entry.time !== time || entry.second !== second || entry.value === null ? null : entry;
  }

  protected listOf(key: K, start: number, hash: unknown = this.identity ? key : this.hashOf(key)): List<V> | null {
    const table = this.tables.get(start);
    return table === undefined ? null : (this.peekIn(table, key, hash)?.value ?? null);
  }

  /** Visible entries of all keys with `from <= time <= to`, by key bytes, then time and second. Weakly consistent: a key is as of when it is reached. */
  protected async *visibleEntries(from: number, to: number): AsyncGenerator<readonly [K, Entry<V>], undefined> {
    const { all } = this.tables;
    const first = Math.max(from, this.minLive);
    const starts = all.slice(this.tables.indexFrom(this.segmentOf(first))).filter((start) => start <= to);
    const scans = starts.map((start) => scanPages(this, this.tables.open(start), everyKey));
    for await (const [key, lists] of mergeByKey(scans, (key) => this.keyOrder(key))) {
      for (const list of lists) {
        for (const entry of list.slice()) {
          if (entry.value !== null && entry.time >= first && entry.time <= to && entry.time >= this.minLive) yield [key, entry];
        }
      }
    }
  }

  protected drainEntryChanges(visit: (change: EntryChange<K, V>) => void | Promise<void>): void | Promise<void> {
    this.assertOpen();
    if (this.entryChanges === null) throw this.notBuilt('trackChanges');
    return this.entryChanges.drain(visit);
  }

  // ---- final results

  protected drainClosedEntries(upTo: number, visit: (key: K, entry: Entry<V>) => void | Promise<void>): void | Promise<void> {
    this.assertOpen();
    if (this.closing === null) throw this.notBuilt('closeTracking');
    for (;;) {
      const place = this.closing.takeUpTo(upTo);
      if (place === null) break;
      const entry = this.entryAt(place.key, place.time, place.second);
      if (entry === null) continue;
      const done = visit(place.key, entry);
      if (isPromiseLike(done)) return this.drainClosedRest(done, upTo, visit);
    }
    this.skipClosed(upTo);
  }

  private async drainClosedRest(
    first: Promise<void>,
    upTo: number,
    visit: (key: K, entry: Entry<V>) => void | Promise<void>,
  ): Promise<void> {
    await first;
    for (;;) {
      const place = this.closing?.takeUpTo(upTo) ?? null;
      if (place === null) break;
      const entry = this.entryAt(place.key, place.time, place.second);
      if (entry !== null) await visit(place.key, entry);
    }
    this.skipClosed(upTo);
  }

  skipClosed(upTo: number): void {
    this.closedUpTo = Math.min(Math.max(this.closedUpTo, upTo), Number.MAX_SAFE_INTEGER);
    while (this.closing?.takeUpTo(this.closedUpTo)) continue;
  }

  private notBuilt(option: string): MillraceError {
    return new MillraceError('MILL_STATE_INVALID', `Store ${this.name} was not built with ${option}`, { details: { store: this.name } });
  }

  // ---- epochs

  /** Below it, entries may be forgotten. */
  private forgetBelow(observed: number, closedUpTo: number): number {
    const bound = observed - this.reach;
    return this.closing === null ? bound : Math.min(bound, closedUpTo + 1);
  }

  protected get valuesInMemory(): number {
    return this.estimateNumKeys;
  }

  protected settleRow(row: Row<K, List<V>>): List<V> | null {
    const list = row.value;
    if (list === null) return null;
    const bound = this.forgetBelow(this.observed, this.closedUpTo);
    let kept = 0;
    for (const entry of list) {
      if (entry.value === null) continue;
      if (entry.time < bound && entry.stamp !== this.generation) {
        this.counted.add(row.table, -1);
        continue;
      }
      list[kept++] = entry;
    }
    list.length = kept;
    return kept === 0 ? null : list;
  }

  protected encodeRow(row: Row<K, List<V>>, list: List<V>, out: ByteWriter): void {
    for (const entry of list) {
      // Only readers see a row with entries that were removed since the last freeze.
      if (entry.value === null) continue;
      out.writeDouble(entry.time);
      out.writeDouble(entry.second);
      out.writeDouble(entry.timestamp);
      out.writeInt32(0);
      entry.valueStart = out.length;
      this.encodeValue(row.key, entry.value, out);
      entry.valueEnd = out.length;
      out.buffer.writeInt32BE(entry.valueEnd - entry.valueStart, entry.valueStart - 4);
    }
  }

  override decodeValue(bytes: Buffer, start: number, end: number): List<V> {
    const list: List<V> = [];
    for (let at = start; at < end;) {
      const entry = new Entry<V>(bytes.readDoubleBE(at), bytes.readDoubleBE(at + 8), 0);
      entry.timestamp = bytes.readDoubleBE(at + 16);
      const valueStart = at + entryHeaderBytes;
      at = valueStart + bytes.readInt32BE(at + 24);
      entry.value = this.valueSerde.decodeSync(bytes, valueStart, at) as V;
      list.push(entry);
    }
    return list;
  }

  /** What came and went within the epoch was never in the changelog; it is written only where a restore learns the highest time from it. */
  protected writeLog(layer: FrozenLayer<K, List<V>>, sink: ChangelogSink): void {
    const encoded = this.engine !== null;
    const { logKey, logValue } = this;
    const frozen = this.generation - 1;
    for (let i = 0; i < this.logEntries.length; i++) {
      const entry = this.logEntries[i] as Entry<V>;
      if (entry.value === null && entry.born === frozen && entry.time < this.observed) continue;
      const key = this.logKeys[i] as K;
      logKey.reset();
      this.keySerde.encode(key, logKey);
      this.writeSuffix(entry, logKey);
      if (entry.value === null) {
        sink.append(this.name, entry.timestamp, logKey.buffer, 0, logKey.length, null, 0, 0);
      } else if (encoded) {
        sink.append(this.name, entry.timestamp, logKey.buffer, 0, logKey.length, layer.bytes.buffer, entry.valueStart, entry.valueEnd);
      } else {
        logValue.reset();
        this.encodeValue(key, entry.value, logValue);
        this.values.saw(logValue.length);
        sink.append(this.name, entry.timestamp, logKey.buffer, 0, logKey.length, logValue.buffer, 0, logValue.length);
      }
    }
  }

  /**
   * What is out of retention as of a committed epoch is needed by nobody: neither by reads nor by an engine that is to be at that epoch or a later one. Nothing later writes there.
   * Readers from outside may still be on their way to it.
   */
  override layerCommitted(layer: FrozenLayer<K, List<V>>): void {
    super.layerCommitted(layer);
    if (this.images === null && this.tables.dropExpired(this.expiredBelow(layer.marks))) this.forgetExpired();
  }

  protected forgetLog(): void {
    if (this.logEntries.length === 0) return;
    this.logKeys = [];
    this.logEntries = [];
  }

  protected expiredBelow(committed: StoreMarks): number {
    return this.segmentOf(this.forgetBelow(committed.observed, committed.closedUpTo));
  }

  /** With `closeTracking` the places of all entries are read; they are few bytes each. */
  override async attach(engineHasRows: boolean): Promise<void> {
    await super.attach(engineHasRows);
    this.counted.spread(this.tables.all.map((start) => this.tables.open(start)));
    if (this.closing === null) return;
    for (const start of this.tables.all) {
      for await (const page of scanPages(this, this.tables.open(start), everyKey)) {
        for (const { key, value } of page) for (const entry of value) this.trackClose(key, entry, entry.value);
      }
    }
  }

  // ---- restore

  protected abstract mergeEntry(timestamp: number, key: Buffer, keyStart: number, keyEnd: number, value: V | null): void;

  protected merge(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (keyEnd - keyStart < this.suffixBytes) {
      throw new MillraceError(
        'MILL_SERDE',
        `Store ${this.name}: a changelog key of ${keyEnd - keyStart} bytes is no key of a ${this.kind} store`,
        { details: { store: this.name, task: this.taskId } },
      );
    }
    const decoded = value === null ? null : this.mergedValue<V>(key, keyStart, keyEnd - this.suffixBytes, value, valueStart, valueEnd);
    this.mergeEntry(timestamp, key, keyStart, keyEnd, decoded);
  }

  protected abstract readonly suffixBytes: number;

  protected restoreEntry(key: K, time: number, second: number, value: V | null, timestamp: number): void {
    if (time > this.observed) this.observed = time;
    if (timestamp > this.highestTime) this.highestTime = timestamp;
    if (time < this.minLive && this.closing === null) return;
    this.applyEntry(key, time, second, value, timestamp);
  }

  protected override dropRows(): void {
    super.dropRows();
    this.closing?.clear();
  }
}
