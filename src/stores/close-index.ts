/**
 * Which entries of a store wait to be given out as final results, in order of (time, second, key bytes). It holds places alone and no values, for all entries
 * whether they are in memory or in the engine.
 */
import BTreeModule from 'sorted-btree';
import { byteOrder } from './row-table.js';

/** sorted-btree is CommonJS: its class is the module's `default`. */
const BTree = BTreeModule.default;

export interface Place<K> {
  readonly time: number;
  readonly second: number;
  /** Key bytes as a latin1 string. */
  readonly order: string;
  readonly key: K;
}

export class CloseIndex<K> {
  private readonly places = new BTree<Place<K>, undefined>(undefined, comparePlaces);

  add(place: Place<K>): void {
    this.places.set(place, undefined);
  }

  delete(place: Place<K>): void {
    this.places.delete(place);
  }

  /** Takes the first place out when its time is at or below `upTo`. */
  takeUpTo(upTo: number): Place<K> | null {
    const first = this.places.minKey();
    if (first === undefined || first.time > upTo) return null;
    this.places.delete(first);
    return first;
  }

  clear(): void {
    this.places.clear();
  }
}

function comparePlaces(a: Place<unknown>, b: Place<unknown>): number {
  return a.time - b.time || a.second - b.second || byteOrder(a.order, b.order);
}
