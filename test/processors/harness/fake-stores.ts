/** The smallest stores that keep the contracts of src/stores/store.ts: maps, for string-like keys. */
import type {
  StoreChange,
  StoreEntry,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  ValueAndTimestamp,
  WindowEntry,
} from '../../../src/stores/store.js';

interface Row<V> {
  value: V;
  timestamp: number;
}

async function* nothing(): AsyncIterableIterator<never> {
  // Operators make no range scans.
}

export class FakeKeyValueStore<K, V> implements TimestampedKeyValueStore<K, V> {
  readonly kind = 'timestampedKeyValue';
  readonly rows = new Map<K, Row<V>>();
  private readonly changed = new Map<K, V | null>();
  private readonly tombstoneTimes = new Map<K, number>();

  constructor(readonly name: string) {}

  get(key: K): V | null {
    return this.rows.get(key)?.value ?? null;
  }

  getWithTimestamp(key: K): ValueAndTimestamp<V> | null {
    return this.rows.get(key) ?? null;
  }

  put(key: K, value: V | null, timestamp: number): void {
    this.write(this.locate(key), value, timestamp);
  }

  locate(key: K): StoreEntry<K, V> {
    const row = this.rows.get(key);
    return { key, value: row?.value ?? null, timestamp: row?.timestamp ?? -1 };
  }

  write(entry: StoreEntry<K, V>, value: V | null, timestamp: number): void {
    if (!this.changed.has(entry.key)) this.changed.set(entry.key, this.get(entry.key));
    if (value === null) {
      this.rows.delete(entry.key);
      this.tombstoneTimes.set(entry.key, timestamp);
    } else this.rows.set(entry.key, { value, timestamp });
  }

  range(): AsyncIterableIterator<never> {
    return nothing();
  }

  prefixScan(): AsyncIterableIterator<never> {
    return nothing();
  }

  approximateEntryCount(): number {
    return this.rows.size;
  }

  async drainChanges(visit: (change: StoreChange<K, V>) => void | Promise<void>): Promise<void> {
    const changed = [...this.changed];
    this.changed.clear();
    for (const [key, before] of changed) {
      const row = this.rows.get(key);
      await visit({ key, before, value: row?.value ?? null, timestamp: row?.timestamp ?? this.tombstoneTimes.get(key) ?? -1 });
    }
  }
}

interface WindowRow<K, V> extends Row<V> {
  key: K;
  windowStart: number;
}

export class FakeWindowStore<K, V> implements TimestampedWindowStore<K, V> {
  readonly kind = 'timestampedWindow';
  readonly rows = new Map<string, WindowRow<K, V>>();
  private readonly changed = new Map<string, { key: K; windowStart: number; before: V | null }>();
  private highestTimestamp = -1;
  private drainedTo = -1;

  /** A store restored from its changelog does not know what was drained. */
  forgetDrained(): void {
    this.drainedTo = -1;
  }

  constructor(
    readonly name: string,
    readonly windowSize: number,
    readonly retention: number,
  ) {}

  observedTime(): number {
    return this.highestTimestamp;
  }

  fetch(key: K, windowStart: number): V | null {
    return this.rows.get(rowId(key, windowStart))?.value ?? null;
  }

  fetchWithTimestamp(key: K, windowStart: number): ValueAndTimestamp<V> | null {
    return this.rows.get(rowId(key, windowStart)) ?? null;
  }

  put(key: K, value: V | null, windowStart: number, timestamp: number): void {
    this.write(this.locate(key, windowStart), value, timestamp);
  }

  locate(key: K, windowStart: number): WindowEntry<K, V> {
    const row = this.fetchWithTimestamp(key, windowStart);
    return { key, windowStart, value: row?.value ?? null, timestamp: row?.timestamp ?? -1 };
  }

  write(entry: WindowEntry<K, V>, value: V | null, timestamp: number): void {
    const id = rowId(entry.key, entry.windowStart);
    if (!this.changed.has(id)) this.changed.set(id, { key: entry.key, windowStart: entry.windowStart, before: entry.value });
    if (timestamp > this.highestTimestamp) this.highestTimestamp = timestamp;
    if (value === null) this.rows.delete(id);
    else this.rows.set(id, { key: entry.key, windowStart: entry.windowStart, value, timestamp });
  }

  fetchRange(): AsyncIterableIterator<never> {
    return nothing();
  }

  fetchAll(): AsyncIterableIterator<never> {
    return nothing();
  }

  async drainChanges(visit: (change: StoreChange<K, V> & { readonly windowStart: number }) => void | Promise<void>): Promise<void> {
    const changed = [...this.changed.values()];
    this.changed.clear();
    for (const { key, windowStart, before } of changed) {
      const row = this.locate(key, windowStart);
      await visit({ key, windowStart, before, value: row.value, timestamp: row.timestamp });
    }
  }

  skipClosed(upToStart: number): void {
    this.drainedTo = Math.max(this.drainedTo, upToStart);
  }

  drainClosed(upToStart: number, visit: (entry: WindowEntry<K, V>) => void | Promise<void>): void | Promise<void> {
    const closed = [...this.rows.values()]
      .filter((row) => row.windowStart > this.drainedTo && row.windowStart <= upToStart)
      .sort((a, b) => a.windowStart - b.windowStart || (String(a.key) < String(b.key) ? -1 : 1));
    this.drainedTo = Math.max(this.drainedTo, upToStart);
    if (closed.length === 0) return;
    return (async () => {
      for (const row of closed) await visit(row);
    })();
  }
}

function rowId(key: unknown, windowStart: number): string {
  return `${windowStart}/${String(key)}`;
}
