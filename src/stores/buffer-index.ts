/** Where the rows of a time-ordered buffer are: in order of (time, rank, key bytes), and by key. It holds all rows' places, whether their values are in memory or in the engine. */
import BTreeModule from 'sorted-btree';
import { byteOrder } from './row-table.js';

/** sorted-btree is CommonJS: its class is the module's `default`. */
const BTree = BTreeModule.default;

export interface BufferPlace<K> {
  readonly time: number;
  readonly rank: number;
  /** The row's key bytes as a latin1 string. */
  readonly order: string;
  readonly key: K;
  /** Bytes of key and value. */
  readonly size: number;
}

export class BufferIndex<K> {
  byteSize = 0;
  private readonly byOrder = new Map<string, BufferPlace<K>>();
  private readonly sorted = new BTree<BufferPlace<K>, undefined>(undefined, comparePlaces);

  get size(): number {
    return this.byOrder.size;
  }

  get(order: string): BufferPlace<K> | undefined {
    return this.byOrder.get(order);
  }

  set(place: BufferPlace<K>): void {
    this.delete(place.order);
    this.byOrder.set(place.order, place);
    this.sorted.set(place, undefined);
    this.byteSize += place.size;
  }

  delete(order: string): void {
    const place = this.byOrder.get(order);
    if (place === undefined) return;
    this.byOrder.delete(order);
    this.sorted.delete(place);
    this.byteSize -= place.size;
  }

  /** The first place behind `before`; null: of all. */
  next(before: BufferPlace<K> | null): BufferPlace<K> | undefined {
    return before === null ? this.sorted.minKey() : this.sorted.nextHigherKey(before);
  }

  clear(): void {
    this.byOrder.clear();
    this.sorted.clear();
    this.byteSize = 0;
  }
}

function comparePlaces(a: BufferPlace<unknown>, b: BufferPlace<unknown>): number {
  return a.time - b.time || a.rank - b.rank || byteOrder(a.order, b.order);
}
