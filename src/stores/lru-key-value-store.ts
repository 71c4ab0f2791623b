/**
 * A key-value store of at most `maxEntries` rows, as Kafka Streams' `lruMap`: a put beyond that takes out the row that was read or written longest ago, with a
 * tombstone in the changelog. It is kept in memory; after a restart the order is that of the changelog.
 */
import type { KeyValueState } from './key-value-state.js';
import { PlainKeyValueStore } from './plain-key-value-store.js';

export class LruKeyValueStore<K, V> extends PlainKeyValueStore<K, V> {
  /** Keys by their bytes, used longest ago first. null: not taken over from the restored rows yet. */
  private used: Map<string, K> | null = null;

  constructor(
    private readonly rows: KeyValueState<K, V>,
    recordTimestamp: () => number,
    private readonly maxEntries: number,
  ) {
    super(rows, recordTimestamp);
  }

  override get(key: K): V | null {
    const value = super.get(key);
    if (value !== null) this.touch(key);
    return value;
  }

  override put(key: K, value: V | null): void {
    super.put(key, value);
    if (value === null) this.forget(key);
    else this.add(key);
  }

  override putIfAbsent(key: K, value: V): V | null {
    const before = super.putIfAbsent(key, value);
    this.add(key);
    return before;
  }

  override delete(key: K): V | null {
    const before = super.delete(key);
    this.forget(key);
    return before;
  }

  private add(key: K): void {
    const used = this.touch(key);
    for (const [order, oldest] of used) {
      if (used.size <= this.maxEntries) return;
      used.delete(order);
      super.delete(oldest);
    }
  }

  private touch(key: K): Map<string, K> {
    const used = this.order();
    const order = this.rows.keyOrder(key);
    used.delete(order);
    used.set(order, key);
    return used;
  }

  private forget(key: K): void {
    this.order().delete(this.rows.keyOrder(key));
  }

  private order(): Map<string, K> {
    if (this.used === null) {
      this.used = new Map();
      for (const key of this.rows.keysInMemory()) this.used.set(this.rows.keyOrder(key), key);
    }
    return this.used;
  }
}
