/**
 * Timers in the order of their time; those of one time in the order of their keys and namespaces, so that a restored queue fires as the lost one would have.
 *
 * A set: the same time, key and namespace twice is one timer. A binary heap; deleted timers stay in it, marked, until they come up or are more than those that are left: a session that
 * grows deletes a timer for each record, long before its time.
 */
import { keyIdentity } from '../state/key-identity.js';

export interface Timer {
  /** ms */
  readonly time: number;
  readonly key: unknown;
  readonly namespace: string;
}

interface Entry extends Timer {
  readonly keyId: unknown;
  deleted: boolean;
}

/** Fewer deleted ones are not worth the work. */
const fewDead = 8;

export class TimerQueue {
  private readonly heap: Entry[] = [];
  /** The timer of the key where there is one: a window has no more, and there may be millions of them. Else by time and namespace. */
  private readonly byKey = new Map<unknown, Entry | Map<string, Entry>>();
  private count = 0;
  /** Deleted and still in the heap. */
  private dead = 0;

  get size(): number {
    return this.count;
  }

  /** Timers in memory, deleted ones that have not left yet too. */
  get held(): number {
    return this.heap.length;
  }

  /** Infinity when there is none. */
  get nextAt(): number {
    return this.head()?.time ?? Infinity;
  }

  /** False when the timer was there. */
  add(key: unknown, namespace: string, time: number): boolean {
    const keyId = keyIdentity(key);
    const known = this.byKey.get(keyId);
    if (timerOf(known, namespace, time) !== undefined) return false;
    const entry = { time, key, namespace, keyId, deleted: false };
    if (known === undefined) this.byKey.set(keyId, entry);
    else if (known instanceof Map) known.set(idOf(entry), entry);
    else
      this.byKey.set(
        keyId,
        new Map([
          [idOf(known), known],
          [idOf(entry), entry],
        ]),
      );
    this.count++;
    this.heap.push(entry);
    this.siftUp(this.heap.length - 1);
    return true;
  }

  /** False when there was no such timer. */
  delete(key: unknown, namespace: string, time: number): boolean {
    const entry = timerOf(this.byKey.get(keyIdentity(key)), namespace, time);
    if (entry === undefined) return false;
    entry.deleted = true;
    this.dead++;
    this.forget(entry);
    if (this.dead > this.count && this.dead >= fewDead) this.removeDead();
    return true;
  }

  /** Takes the first timer at or before `time` out; null when there is none. */
  poll(time: number): Timer | null {
    const entry = this.head();
    if (entry === null || entry.time > time) return null;
    this.removeHead();
    this.forget(entry);
    return entry;
  }

  /** The latest time of any timer that has one; -Infinity when there is none. Infinity is no time that comes. */
  get lastAt(): number {
    return this.heap.reduce((last, { deleted, time }) => (deleted || time === Infinity ? last : Math.max(last, time)), -Infinity);
  }

  /** All timers, in no order that matters. */
  timers(): Timer[] {
    return this.heap.flatMap(({ deleted, time, key, namespace }) => (deleted ? [] : [{ time, key, namespace }]));
  }

  private forget(entry: Entry): void {
    const timers = this.byKey.get(entry.keyId);
    if (timers instanceof Map) timers.delete(idOf(entry));
    if (!(timers instanceof Map) || timers.size === 0) this.byKey.delete(entry.keyId);
    this.count--;
  }

  private head(): Entry | null {
    while (this.heap[0]?.deleted === true) {
      this.removeHead();
      this.dead--;
    }
    return this.heap[0] ?? null;
  }

  private removeHead(): void {
    const last = this.heap.pop();
    if (last === undefined || this.heap.length === 0) return;
    this.heap[0] = last;
    this.siftDown(0);
  }

  private removeDead(): void {
    const { heap } = this;
    let left = 0;
    for (const entry of heap) if (!entry.deleted) heap[left++] = entry;
    heap.length = left;
    this.dead = 0;
    for (let at = (left >> 1) - 1; at >= 0; at--) this.siftDown(at);
  }

  private siftUp(from: number): void {
    const { heap } = this;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at] as Entry, heap[parent] as Entry)) return;
      this.swap(at, parent);
      at = parent;
    }
  }

  private siftDown(from: number): void {
    const { heap } = this;
    let at = from;
    for (;;) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBefore(heap[child] as Entry, heap[first] as Entry)) first = child;
      }
      if (first === at) return;
      this.swap(at, first);
      at = first;
    }
  }

  private swap(a: number, b: number): void {
    const { heap } = this;
    [heap[a], heap[b]] = [heap[b] as Entry, heap[a] as Entry];
  }
}

function timerOf(timers: Entry | Map<string, Entry> | undefined, namespace: string, time: number): Entry | undefined {
  if (timers instanceof Map) return timers.get(idOf({ namespace, time }));
  return timers?.time === time && timers.namespace === namespace ? timers : undefined;
}

function idOf({ time, namespace }: Pick<Entry, 'time' | 'namespace'>): string {
  return `${time}|${namespace}`;
}

function isBefore(a: Entry, b: Entry): boolean {
  if (a.time !== b.time) return a.time < b.time;
  if (a.keyId !== b.keyId) return isKeyBefore(a.keyId, b.keyId);
  return a.namespace < b.namespace;
}

function isKeyBefore(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b;
  return String(a) < String(b);
}
