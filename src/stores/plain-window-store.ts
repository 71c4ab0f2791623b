import type { StoreKind, WindowStore } from './store.js';
import type { WindowState } from './window-state.js';

/** The window store of plain values, for user processors. Its changelog records carry the timestamp of the record in work. */
export class PlainWindowStore<K, V> implements WindowStore<K, V> {
  readonly name: string;
  readonly kind: StoreKind;
  readonly windowSize: number;
  readonly retention: number;

  constructor(
    private readonly state: WindowState<K, V>,
    private readonly recordTimestamp: () => number,
  ) {
    this.name = state.name;
    this.kind = state.kind;
    this.windowSize = state.windowSize;
    this.retention = state.retention;
  }

  fetch(key: K, windowStart: number): V | null {
    return this.state.fetch(key, windowStart);
  }

  put(key: K, value: V | null, windowStart: number): void {
    this.state.put(key, value, windowStart, this.recordTimestamp());
  }

  async *fetchRange(
    key: K,
    from: number,
    to: number,
    options?: { readonly reverse?: boolean },
  ): AsyncGenerator<readonly [number, V], undefined> {
    for await (const [start, row] of this.state.fetchRange(key, from, to, options)) yield [start, row.value];
  }

  async *fetchAll(from: number, to: number): AsyncGenerator<readonly [K, number, V], undefined> {
    for await (const [key, start, row] of this.state.fetchAll(from, to)) yield [key, start, row.value];
  }
}
