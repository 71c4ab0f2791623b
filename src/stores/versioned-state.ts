/**
 * The versioned store (KIP-889). The latest version of a key is a row of its own; older ones lie in the segment in which they ended, so that they leave with it.
 * Deleted keys have no latest version: their tombstone is the end of a version, or an empty run, in a segment, and leaves as well.
 *
 * Rules and results are Kafka Streams' (RocksDBVersionedStore), segments included: a put older than the history is rejected; `getAsOf` before the history sees the latest
 * version alone; a tombstone with exactly the time of the latest version takes that away and leaves nothing.
 */
import { checkFlag } from './range-options.js';
import { ByteWriter } from '../bytes/byte-writer.js';
import type { FrozenLayer } from './frozen-layer.js';
import type { Row } from './row.js';
import type { RowTable } from './row-table.js';
import { SegmentedState } from './segmented-state.js';
import type { VersionedKeyValueStore, VersionedRecord } from './store.js';
import type { ChangelogSink, StoreEnvironment } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import { decodeVersionRun, encodeVersionRun } from './version-run-codec.js';
import { latestVersion, versionAsOf, versionsBetween } from './version-lookup.js';
import type { VersionSource } from './version-lookup.js';
import { VersionRun } from './version-run.js';
import type { Version } from './version-run.js';

/** Stands for the segment of the latest versions: above all others, so that range deletes never reach it. */
const latestStart = Number.MAX_SAFE_INTEGER;
/** Bytes that a version adds to the active epoch, estimated. */
const versionBytes = 150;

type Run<V> = VersionRun<V>;

export class VersionedState<K, V> extends SegmentedState<K, Run<V>> implements VersionedKeyValueStore<K, V>, VersionSource<K, V> {
  readonly historyRetention: number;
  readonly latest: RowTable<K, Run<V>>;
  private logKeys: K[] = [];
  private logVersions: Version<V>[] = [];
  private readonly logBytes = new ByteWriter(256);
  private evictLatest = false;

  constructor(environment: StoreEnvironment) {
    super(environment);
    this.historyRetention = environment.spec.historyRetention ?? 0;
    this.latest = this.segmentTable(latestStart, false);
  }

  put(key: K, value: V | null, timestamp: number): number | null | 'rejected' {
    if (timestamp < this.historyStart) {
      this.assertOpen();
      this.expiredWrites++;
      return 'rejected';
    }
    if (timestamp > this.observed) this.observed = this.highestTime = timestamp;
    const end = this.apply(key, value, timestamp);
    this.logKeys.push(key);
    this.logVersions.push({ from: timestamp, value });
    this.activeBytes += versionBytes;
    return end;
  }

  delete(key: K, timestamp: number): VersionedRecord<V> | null {
    const before = timestamp < this.historyStart ? null : this.getAsOf(key, timestamp);
    this.put(key, null, timestamp);
    return before;
  }

  get(key: K): VersionedRecord<V> | null {
    return latestVersion(this, key, Infinity);
  }

  getAsOf(key: K, asOf: number): VersionedRecord<V> | null {
    return versionAsOf(this, key, asOf);
  }

  getRange(key: K, from: number, to: number, options: { readonly ascending?: boolean } = {}): readonly VersionedRecord<V>[] {
    checkFlag('getRange', options, 'ascending');
    const found = versionsBetween(this, key, from, to);
    return options.ascending === true ? found.reverse() : found;
  }

  // ---- the rules

  /** Earliest time of the history. */
  get historyStart(): number {
    return this.observed - this.historyRetention;
  }

  /** Segments before it have left. */
  private get firstLive(): number {
    return this.segmentOf(this.historyStart);
  }

  get segments(): readonly number[] {
    return this.tables.all;
  }

  latestOf(key: K): Version<V> | null {
    return this.peekIn(this.latest, key)?.value?.versions[0] ?? null;
  }

  runOf(key: K, start: number): Run<V> | null {
    const table = this.tables.get(start);
    return table === undefined ? null : (this.peekIn(table, key)?.value ?? null);
  }

  /** Returns where the version ends; null when it is the latest. */
  private apply(key: K, value: V | null, timestamp: number): number | null {
    const row = this.locateIn(this.latest, key);
    const latest = row.value?.versions[0];
    if (latest !== undefined && timestamp >= latest.from) {
      if (timestamp > latest.from) this.append(key, latest.from, latest.value, timestamp);
      this.setLatest(row, value, timestamp);
      return null;
    }
    let end = latest === undefined ? null : latest.from;
    const { all } = this.tables;
    const oldest = Math.max(this.segmentOf(timestamp), this.firstLive);
    for (let i = all.length - 1; i >= 0 && (all[i] as number) >= oldest; i--) {
      const run = this.runOf(key, all[i] as number);
      if (run === null) continue;
      if (run.next <= timestamp) break;
      if (run.first <= timestamp) return this.putInto(key, all[i] as number, value, timestamp);
      end = run.first;
    }
    if (end !== null) this.putBefore(key, value, timestamp, end);
    else if (value !== null) this.setLatest(row, value, timestamp);
    else this.putTombstone(key, timestamp);
    return end;
  }

  private setLatest(located: Row<K, Run<V>>, value: V | null, timestamp: number): void {
    const row = this.touch(located);
    if ((row.value === null) !== (value === null)) this.counted.add(this.latest, value === null ? -1 : 1);
    row.value = value === null ? null : VersionRun.of(timestamp, value, Infinity);
  }

  /** The run of a key in a segment, about to be changed; `fresh` makes it when there is none. */
  private changeRun(key: K, start: number, fresh: () => Run<V>, change: (run: Run<V>) => void): void {
    if (start < this.firstLive) return;
    const row = this.touch(this.locateIn(this.tables.open(start), key));
    if (row.value === null) row.value = fresh();
    else change(row.value);
  }

  /** A version that ends at `next` goes behind the others of its segment. */
  private append(key: K, from: number, value: V | null, next: number): void {
    this.changeRun(
      key,
      this.segmentOf(next),
      () => VersionRun.of(from, value, next),
      (run) => run.append(from, value, next),
    );
  }

  /** The run at `start` has a version valid at `timestamp`: that one now ends there, and may thereby belong to an older segment. */
  private putInto(key: K, start: number, value: V | null, timestamp: number): number {
    const run = this.touch(this.locateIn(this.tables.open(start), key)).value as Run<V>;
    const index = run.indexAt(timestamp);
    const version = run.versions[index] as Version<V>;
    const end = run.validTo(index);
    if (version.from === timestamp) {
      run.replace(index, { from: timestamp, value });
    } else if (this.segmentOf(timestamp) !== start) {
      this.append(key, version.from, version.value, timestamp);
      run.replace(index, { from: timestamp, value });
    } else {
      run.insertAfter(index, { from: timestamp, value });
    }
    return end;
  }

  /** A version that ends at `end`, where another begins, is the first or the last of its segment. */
  private putBefore(key: K, value: V | null, timestamp: number, end: number): void {
    this.changeRun(
      key,
      this.segmentOf(end),
      () => VersionRun.of(timestamp, value, end),
      (run) => {
        if (run.next <= timestamp) run.append(timestamp, value, end);
        else run.prepend(timestamp, value);
      },
    );
  }

  /** The newest thing known of the key is that it is deleted. */
  private putTombstone(key: K, timestamp: number): void {
    this.changeRun(
      key,
      this.segmentOf(timestamp),
      () => VersionRun.of<V>(timestamp, null, timestamp),
      (run) => {
        if (run.next !== timestamp) run.append(run.next, null, timestamp);
      },
    );
  }

  override get memoryBytes(): number {
    return super.memoryBytes + this.latest.bytes;
  }

  /** At least: what a row has beside its first version is not counted. */
  protected get valuesInMemory(): number {
    return this.latest.rows.size + this.tables.rowCount;
  }

  // ---- epochs

  protected settleRow(row: Row<K, Run<V>>): Run<V> | null {
    return row.value;
  }

  protected encodeRow(row: Row<K, Run<V>>, run: Run<V>, out: ByteWriter): void {
    encodeVersionRun(run, out, (value, into) => this.encodeValue(row.key, value, into));
  }

  override decodeValue(bytes: Buffer, start: number, end: number): Run<V> {
    return decodeVersionRun(bytes, start, end, (from, to) => this.valueSerde.decodeSync(bytes, from, to) as V);
  }

  /** Every put in its order, also those of one key and time: a replay must see what the store saw. */
  protected writeLog(_layer: FrozenLayer<K, Run<V>>, sink: ChangelogSink): void {
    const out = this.logBytes;
    for (let i = 0; i < this.logKeys.length; i++) {
      const key = this.logKeys[i] as K;
      const { from, value } = this.logVersions[i] as Version<V>;
      out.reset();
      this.keySerde.encode(key, out);
      const keyEnd = out.length;
      if (value === null) {
        sink.append(this.name, from, out.buffer, 0, keyEnd, null, 0, 0);
      } else {
        this.encodeValue(key, value, out);
        this.values.saw(out.length - keyEnd);
        sink.append(this.name, from, out.buffer, 0, keyEnd, out.buffer, keyEnd, out.length);
      }
    }
  }

  protected forgetLog(): void {
    if (this.logKeys.length === 0) return;
    this.logKeys = [];
    this.logVersions = [];
  }

  protected merge(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void {
    // Kafka Streams logs what it rejected, too.
    if (timestamp < this.historyStart) return;
    if (timestamp > this.observed) this.observed = this.highestTime = timestamp;
    const decoded = value === null ? null : this.mergedValue<V>(key, keyStart, keyEnd, value, valueStart, valueEnd);
    this.apply(this.keySerde.decodeSync(key, keyStart, keyEnd) as K, decoded, timestamp);
  }

  protected override foundSegment(start: number): void {
    if (start === latestStart) this.latest.mayMiss = true;
    else super.foundSegment(start);
  }

  protected expiredBelow(committed: StoreMarks): number {
    return this.segmentOf(committed.observed - this.historyRetention);
  }

  override evict(steps: number): number {
    this.evictLatest = !this.evictLatest;
    return this.evictLatest ? this.latest.evict(steps) : super.evict(steps);
  }

  protected override dropRows(): void {
    super.dropRows();
    this.latest.drop();
    this.latest.mayMiss = false;
    this.latest.entries = 0;
  }
}
