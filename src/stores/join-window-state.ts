/**
 * The records of one side of a stream-stream join. Changelog as window stores that retain duplicates: key bytes, 8-byte timestamp, 4-byte sequence.
 *
 * The sequence counts the records with that key and timestamp. Kafka Streams counts all puts of the store instead, which begins again with every start and would let
 * a record replace another one of an earlier life; readers of the changelog need it distinct and increasing, no more.
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import { firstAtOrAbove } from './entry.js';
import type { Entry } from './entry.js';
import { EntryListState } from './entry-list-state.js';
import type { JoinWindowStore } from './store.js';
import { changelogSuffixBytes, startInChangelogKey } from './window-key.js';

const sequenceBytes = 4;

interface JoinRecord<V> {
  readonly timestamp: number;
  readonly value: V;
}

export class JoinWindowState<K, V> extends EntryListState<K, V> implements JoinWindowStore<K, V> {
  protected readonly suffixBytes = changelogSuffixBytes;

  /** Also of records that were not kept: with a retention of 0 none is. */
  override observedTime(): number {
    return this.observed;
  }

  put(key: K, value: V, timestamp: number): void {
    if (timestamp > this.observed) this.observed = timestamp;
    if (timestamp < this.minLive) {
      this.assertOpen();
      this.expiredWrites++;
      return;
    }
    const located = this.locateIn(this.tables.open(this.segmentOf(timestamp)), key);
    const list = located.value;
    const at = list === null ? 0 : firstAtOrAbove(list, timestamp, Infinity);
    const before = list?.[at - 1];
    const sequence = before?.time === timestamp ? before.second + 1 : 0;
    this.writeEntry(located, at, null, timestamp, sequence, value, timestamp);
  }

  /** The records are the store's own: never changed, so they need no copies. */
  fetch(key: K, from: number, to: number): readonly JoinRecord<V>[] {
    return this.collect(key, from, to, (entry) => entry as JoinRecord<V>);
  }

  protected writeSuffix(entry: Entry<V>, out: ByteWriter): void {
    out.writeInt64(entry.time);
    out.writeInt32(entry.second);
  }

  protected mergeEntry(timestamp: number, key: Buffer, keyStart: number, keyEnd: number, value: V | null): void {
    const decoded = this.keySerde.decodeSync(key, keyStart, keyEnd - changelogSuffixBytes) as K;
    this.restoreEntry(decoded, startInChangelogKey(key, keyEnd), key.readInt32BE(keyEnd - sequenceBytes), value, timestamp);
  }
}
