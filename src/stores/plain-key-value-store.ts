import type { KeyValueState } from './key-value-state.js';
import type { KeyRange, KeyValueStore, StoreKind } from './store.js';

/** The key-value store of plain values, for user processors. Its changelog records carry the timestamp of the record in work. */
export class PlainKeyValueStore<K, V> implements KeyValueStore<K, V> {
  readonly name: string;
  readonly kind: StoreKind;

  constructor(
    private readonly state: KeyValueState<K, V>,
    private readonly recordTimestamp: () => number,
  ) {
    this.name = state.name;
    this.kind = state.kind;
  }

  get(key: K): V | null {
    return this.state.get(key);
  }

  put(key: K, value: V | null): void {
    this.state.put(key, value, this.recordTimestamp());
  }

  putIfAbsent(key: K, value: V): V | null {
    const entry = this.state.locate(key);
    const before = entry.value;
    if (before === null) this.state.write(entry, value, this.recordTimestamp());
    return before;
  }

  putAll(rows: Iterable<readonly [key: K, value: V | null]>): void {
    for (const [key, value] of rows) this.put(key, value);
  }

  delete(key: K): V | null {
    const entry = this.state.locate(key);
    const before = entry.value;
    this.state.write(entry, null, this.recordTimestamp());
    return before;
  }

  async *range(range?: KeyRange<K>): AsyncGenerator<readonly [K, V], undefined> {
    for await (const page of this.state.rangePages(range ?? {})) {
      for (const row of page) {
        this.state.assertOpen();
        yield [row.key, row.value];
      }
    }
  }

  async *prefixScan(prefix: Uint8Array): AsyncGenerator<readonly [K, V], undefined> {
    for await (const page of this.state.prefixPages(prefix)) {
      for (const row of page) {
        this.state.assertOpen();
        yield [row.key, row.value];
      }
    }
  }

  approximateEntryCount(): number {
    return this.state.approximateEntryCount();
  }
}
