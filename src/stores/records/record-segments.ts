/**
 * The segments of a store of records in order of time, and how their memory leaves: with the segment once that is out of retention, earlier when the engine has it and the
 * cache budget wants room. Memory that the engine does not have never leaves before its segment.
 */
import type { CacheBudget, Evictable } from '../cache-budget.js';
import { RecordMemory } from './record-memory.js';
import type { RecordLayer } from './record-layer.js';
import { RecordSegment } from './record-segment.js';

/** Segments that one call of `evict` looks at. */
const evictionTries = 16;
/** To let go of a part of a segment's memory is to copy the rest: not worth it below this, bytes. */
const smallestToShrink = 256;
const maxSpare = 4;
const maxSpareBytes = 512 * 1024;
/** Of segments that were let go of. */
const noMemory = new RecordMemory();

/** The layers whose numbers change with the memory that they are about. */
export interface LayersInUse {
  active(): RecordLayer;
  frozen(): Iterable<RecordLayer>;
  mayEvict(): boolean;
}

export class RecordSegments implements Evictable {
  /** Ascending by start. */
  readonly all: RecordSegment[] = [];
  /** Records of all segments. */
  records = 0;
  private recent: RecordSegment | null = null;
  private evictAt = 0;
  private readonly spare: RecordMemory[] = [];

  /** @param budget null: there is no engine, so nothing is ever evicted */
  constructor(
    private readonly budget: CacheBudget | null,
    private readonly prefixOf: (start: number) => Buffer,
    private readonly layers: LayersInUse,
  ) {
    budget?.add(this);
  }

  /** The segment, made when there is none. */
  open(start: number, fromEngine = false): RecordSegment {
    if (this.recent?.start === start) return this.recent;
    const at = RecordSegment.indexFrom(this.all, start);
    const present = this.all[at];
    const segment =
      present?.start === start
        ? present
        : new RecordSegment(this.spare.pop() ?? new RecordMemory(), start, this.prefixOf(start), fromEngine);
    if (segment !== present) this.all.splice(at, 0, segment);
    this.recent = segment;
    return segment;
  }

  indexFrom(start: number): number {
    return RecordSegment.indexFrom(this.all, start);
  }

  get memoryBytes(): number {
    let bytes = 0;
    for (const { memory } of this.all) bytes += memory.size;
    return bytes;
  }

  countRecords(segment: RecordSegment, change: number): void {
    segment.records += change;
    this.records += change;
  }

  /** Of the segments that were found in the engine only the sum is known. */
  spreadRecords(sum: number): void {
    this.records = this.all.length === 0 ? 0 : sum;
    for (const segment of this.all) segment.records = sum / this.all.length;
  }

  /** Tells the budget that a segment's memory may have grown. */
  count(segment: RecordSegment): void {
    const { budget } = this;
    if (budget === null) return;
    const { size } = segment.memory;
    budget.used += size - segment.counted;
    segment.counted = size;
  }

  /** Lets go of segments that start below `bound`; true when the engine has rows of one. */
  dropBelow(bound: number): boolean {
    let inEngine = false;
    let dropped = 0;
    for (; dropped < this.all.length; dropped++) {
      const segment = this.all[dropped] as RecordSegment;
      if (segment.start >= bound) break;
      if (segment.inEngine) inEngine = true;
      this.forget(segment);
    }
    if (dropped > 0) this.all.splice(0, dropped);
    return inEngine;
  }

  /** The engine has what the layer has. */
  unpin(layer: RecordLayer): void {
    const { pinned, pinnedBytes } = layer;
    for (let i = 0; i < pinned.length; i++) {
      const segment = pinned[i] as RecordSegment;
      if (segment.dropped) continue;
      const bytes = pinnedBytes[i] as number;
      segment.pins--;
      segment.dirtyBytes -= bytes;
      if (this.budget !== null) this.budget.pinned -= bytes;
    }
  }

  /** Evicts until the budget is kept, or nothing more can go. */
  trim(): void {
    const { budget } = this;
    while (budget !== null && budget.used > budget.limit) if (this.evict() === 0) return;
  }

  evict(): number {
    if (!this.layers.mayEvict()) return 0;
    const { all } = this;
    for (let i = 0; i < evictionTries && i < all.length; i++) {
      this.evictAt = (this.evictAt + 1) % all.length;
      const freed = this.evictFrom(all[this.evictAt] as RecordSegment);
      if (freed > 0) return freed;
    }
    return 0;
  }

  clear(): void {
    for (const segment of this.all) this.forget(segment);
    this.all.length = 0;
    this.records = 0;
    this.spare.length = 0;
  }

  private forget(segment: RecordSegment): void {
    segment.dropped = true;
    this.records = Math.max(0, this.records - segment.records);
    if (this.recent === segment) this.recent = null;
    if (this.budget !== null) {
      this.budget.used -= segment.counted;
      this.budget.pinned -= segment.dirtyBytes;
    }
    this.keepSpare(segment.memory);
    segment.memory = noMemory;
  }

  /** What was allocated for one segment serves a later one. */
  private keepSpare(memory: RecordMemory): void {
    if (this.spare.length === maxSpare || memory.size > maxSpareBytes) return;
    memory.clear();
    this.spare.push(memory);
  }

  private evictFrom(segment: RecordSegment): number {
    const { memory } = segment;
    const before = segment.counted;
    if (memory.keyCount === 0) return 0;
    if (segment.pins === 0) {
      segment.mayMiss ||= memory.count > 0;
      this.keepSpare(memory);
      segment.memory = new RecordMemory();
    } else {
      const { length } = memory.bytes;
      const worthIt = length >= smallestToShrink && length >= 2 * segment.dirtyBytes && length >= 2 * segment.smallest;
      if (!worthIt) return 0;
      this.shrink(segment);
      segment.smallest = segment.memory.bytes.length;
    }
    this.count(segment);
    return before - segment.counted;
  }

  /** Keeps the keys with records that the engine does not have, whole, and forgets the others. */
  private shrink(segment: RecordSegment): void {
    const old = segment.memory;
    const active = this.layers.active();
    const fresh = new RecordMemory();
    const keys = new Map<number, number>();
    const keep = (key: number): void => {
      if (keys.has(key)) return;
      const number = fresh.addKey(old.hashOf(key), old.bytes.buffer, old.keyStart(key), old.keyEnd(key));
      // An engine write may be under way: what it has of the key must not be overwritten by an older epoch's.
      fresh.mark(number, old.markOf(key));
      keys.set(key, number);
    };
    for (const record of numbersIn(active, segment)) keep(old.keyOf(record));
    for (const layer of this.layers.frozen()) for (const key of numbersIn(layer, segment)) keep(key);
    const records = new Map<number, number>();
    for (let record = 0; record < old.count; record++) {
      const key = keys.get(old.keyOf(record));
      if (key !== undefined && !old.isRemoved(record)) records.set(record, fresh.copy(old, record, key));
    }
    renumber(active, segment, records);
    for (const layer of this.layers.frozen()) renumber(layer, segment, keys);
    if (keys.size < old.keyCount) segment.mayMiss = true;
    segment.memory = fresh;
  }
}

function* numbersIn({ segments, numbers }: RecordLayer, segment: RecordSegment): Iterable<number> {
  for (let i = 0; i < segments.length; i++) if (segments[i] === segment) yield numbers[i] as number;
}

function renumber({ segments, numbers }: RecordLayer, segment: RecordSegment, fresh: ReadonlyMap<number, number>): void {
  for (let i = 0; i < segments.length; i++) {
    if (segments[i] === segment) numbers[i] = fresh.get(numbers[i] as number) ?? (numbers[i] as number);
  }
}
