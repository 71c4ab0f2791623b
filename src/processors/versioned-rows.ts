/**
 * A versioned store as the operators that write tables know their store: the latest row of a key is the row. What became of a write is told after it, since
 * a write of long ago is not the latest, or not taken at all.
 */
import type { StoreEntry, TimestampedKeyValueStore, VersionedKeyValueStore } from '../stores/store.js';

/** What the writers of tables need of a store. */
export type TableRows<K, V> = Pick<TimestampedKeyValueStore<K, V>, 'locate' | 'write'>;

export class VersionedRows<K, V> implements TableRows<K, V> {
  /** Of the last write: false when a later version was there. */
  isLatest = true;
  /** Of the last write: true when it was older than the history. */
  wasRejected = false;

  constructor(private readonly store: VersionedKeyValueStore<K, V>) {}

  locate(key: K): StoreEntry<K, V> {
    const latest = this.store.get(key);
    return latest === null ? { key, value: null, timestamp: -1 } : { key, value: latest.value, timestamp: latest.timestamp };
  }

  write({ key }: StoreEntry<K, V>, value: V | null, timestamp: number): void {
    const validTo = this.store.put(key, value, timestamp);
    this.wasRejected = validTo === 'rejected';
    this.isLatest = validTo === null;
  }
}
