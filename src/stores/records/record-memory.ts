/**
 * Timed records of many keys in memory, without an object for any of them: their bytes one after the other in one buffer, what is known of them in typed arrays,
 * and keys in an open-addressed table. The garbage collector sees a handful of arrays, however many records there are.
 *
 * Bytes of a record: key, 8-byte time, 4-byte sequence, value: key and value of its changelog record. Records of one key are chained from the latest to the earliest
 * by (time, sequence). A key is there with all its records or not at all; one without records tells that nothing else has any.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';
import { changelogSuffixBytes } from '../window-key.js';

/** Fields of a record. */
const startField = 0;
const valueField = 1;
const endField = 2;
const sequenceField = 3;
const earlierField = 4;
const keyField = 5;
const generationField = 6;
const readField = 7;
const recordFields = 8;

/** Fields of a key. */
const hashField = 0;
const keyStartField = 1;
const keyEndField = 2;
const latestField = 3;
const markField = 4;
const keyFields = 5;

/** No record. */
export const none = -1;
/** Generation of a record that was taken out of its key's chain. */
const removed = -1;

const firstRecords = 16;
const firstSlots = 32;
/** Of an object that is kept, beside twice its bytes. */
const valueOverhead = 100;
/** 2^32 divided by the golden ratio: spreads hashes that have bits in common, as those of one partition have. */
const spread = 0x9e3779b1;

export class RecordMemory {
  /** Records, those that were removed included. */
  count = 0;
  keyCount = 0;
  readonly bytes = new ByteWriter(1024);
  private times = new Float64Array(firstRecords);
  private records = new Int32Array(firstRecords * recordFields);
  private keys = new Int32Array(firstRecords * keyFields);
  /** Number of a key plus one; 0: free. At most half of them are taken. */
  private slots = new Int32Array(firstSlots);
  private shift = 32 - Math.log2(firstSlots);
  /** Values that were read more than once, when they are objects: to decode those may cost more than to keep them. */
  private values: Map<number, unknown> | null = null;
  private valueBytes = 0;

  /** Bytes that are allocated. */
  get size(): number {
    return (
      this.bytes.buffer.length +
      this.times.byteLength +
      this.records.byteLength +
      this.keys.byteLength +
      this.slots.byteLength +
      this.valueBytes
    );
  }

  /** Forgets everything and keeps what is allocated. */
  clear(): void {
    this.count = 0;
    this.keyCount = 0;
    this.bytes.reset();
    this.slots.fill(0);
    this.values = null;
    this.valueBytes = 0;
  }

  // ---- keys

  /** The number of the key in `source[start, end)`, or `none`. */
  find(hash: number, source: Buffer, start: number, end: number): number {
    const { slots, keys } = this;
    const mask = slots.length - 1;
    for (let slot = Math.imul(hash, spread) >>> this.shift; ; slot = (slot + 1) & mask) {
      const key = (slots[slot] as number) - 1;
      if (key < 0) return none;
      if (keys[key * keyFields + hashField] === hash && this.hasBytes(key, source, start, end)) return key;
    }
  }

  /** For a key that `find` did not find. */
  addKey(hash: number, source: Buffer, start: number, end: number): number {
    const key = this.keyCount++;
    if (key * keyFields === this.keys.length) this.keys = larger(this.keys);
    if (this.keyCount * 2 > this.slots.length) this.moreSlots();
    const at = key * keyFields;
    const { keys, bytes } = this;
    keys[at + hashField] = hash;
    keys[at + keyStartField] = bytes.length;
    bytes.writeBytes(source, start, end);
    keys[at + keyEndField] = bytes.length;
    keys[at + latestField] = none;
    keys[at + markField] = 0;
    this.occupy(hash, key);
    return key;
  }

  hashOf(key: number): number {
    return this.keys[key * keyFields + hashField] as number;
  }

  keyStart(key: number): number {
    return this.keys[key * keyFields + keyStartField] as number;
  }

  keyEnd(key: number): number {
    return this.keys[key * keyFields + keyEndField] as number;
  }

  /** The key's record with the highest (time, sequence), or `none`. */
  latest(key: number): number {
    return this.keys[key * keyFields + latestField] as number;
  }

  /** False when the key has this mark already. */
  mark(key: number, mark: number): boolean {
    const at = key * keyFields + markField;
    if (this.keys[at] === mark) return false;
    this.keys[at] = mark;
    return true;
  }

  markOf(key: number): number {
    return this.keys[key * keyFields + markField] as number;
  }

  // ---- records

  /** Writes everything of a record that precedes its value; the value's bytes follow, then `close`. */
  open(key: number, time: number, sequence: number): number {
    const { bytes, keys } = this;
    const keyStart = keys[key * keyFields + keyStartField] as number;
    const keyEnd = keys[key * keyFields + keyEndField] as number;
    let start = keyStart;
    // Right behind a new key its own bytes serve.
    if (keyEnd !== bytes.length) {
      start = bytes.length;
      bytes.ensure(keyEnd - keyStart + changelogSuffixBytes);
      bytes.buffer.copyWithin(start, keyStart, keyEnd);
      bytes.length += keyEnd - keyStart;
    }
    bytes.writeInt64(time);
    bytes.writeInt32(sequence);
    return start;
  }

  /** The value of the record that was opened at `start` has been written: the record takes its place in the key's chain. */
  close(start: number, valueStart: number, key: number, time: number, sequence: number, generation: number): number {
    const record = this.count++;
    if (record === this.times.length) {
      this.times = larger(this.times);
      this.records = larger(this.records);
    }
    const { records } = this;
    const at = record * recordFields;
    this.times[record] = time;
    records[at + startField] = start;
    records[at + valueField] = valueStart;
    records[at + endField] = this.bytes.length;
    records[at + sequenceField] = sequence;
    records[at + keyField] = key;
    records[at + generationField] = generation;
    records[at + readField] = 0;
    this.link(record);
    return record;
  }

  time(record: number): number {
    return this.times[record] as number;
  }

  start(record: number): number {
    return this.records[record * recordFields + startField] as number;
  }

  valueStart(record: number): number {
    return this.records[record * recordFields + valueField] as number;
  }

  end(record: number): number {
    return this.records[record * recordFields + endField] as number;
  }

  sequence(record: number): number {
    return this.records[record * recordFields + sequenceField] as number;
  }

  /** The key's next record before this one, or `none`. */
  earlier(record: number): number {
    return this.records[record * recordFields + earlierField] as number;
  }

  keyOf(record: number): number {
    return this.records[record * recordFields + keyField] as number;
  }

  generation(record: number): number {
    return this.records[record * recordFields + generationField] as number;
  }

  /** The sequence of a further record with this key and time. */
  nextSequence(key: number, time: number): number {
    let record = this.latest(key);
    while (record !== none && this.time(record) > time) record = this.earlier(record);
    return record !== none && this.time(record) === time ? this.sequence(record) + 1 : 0;
  }

  recordAt(key: number, time: number, sequence: number): number {
    let record = this.latest(key);
    while (record !== none && this.isBehind(record, time, sequence)) record = this.earlier(record);
    return record !== none && this.time(record) === time && this.sequence(record) === sequence ? record : none;
  }

  remove(record: number): void {
    const key = this.keyOf(record);
    const earlier = this.earlier(record);
    let later: number = none;
    for (let other = this.latest(key); other !== record; other = this.earlier(other)) later = other;
    if (later === none) this.keys[key * keyFields + latestField] = earlier;
    else this.records[later * recordFields + earlierField] = earlier;
    this.records[record * recordFields + generationField] = removed;
  }

  isRemoved(record: number): boolean {
    return this.generation(record) === removed;
  }

  /** @param decode reads a value out of the buffer */
  value(record: number, decode: (buffer: Buffer, start: number, end: number) => unknown): unknown {
    const known = this.values?.get(record);
    if (known !== undefined) return known;
    const value = decode(this.bytes.buffer, this.valueStart(record), this.end(record));
    if (typeof value !== 'object') return value;
    const at = record * recordFields + readField;
    if (this.records[at] === 0) this.records[at] = 1;
    else {
      (this.values ??= new Map<number, unknown>()).set(record, value);
      this.valueBytes += valueOverhead + 2 * (this.end(record) - this.valueStart(record));
    }
    return value;
  }

  /** Copies a record that `from` has under another number of the key. */
  copy(from: RecordMemory, record: number, key: number): number {
    const time = from.time(record);
    const sequence = from.sequence(record);
    const start = this.open(key, time, sequence);
    const valueStart = this.bytes.length;
    this.bytes.writeBytes(from.bytes.buffer, from.valueStart(record), from.end(record));
    return this.close(start, valueStart, key, time, sequence, from.generation(record));
  }

  private link(record: number): void {
    const { records, keys } = this;
    const at = record * recordFields;
    const key = records[at + keyField] as number;
    const time = this.times[record] as number;
    const sequence = records[at + sequenceField] as number;
    let later: number = none;
    let earlier = this.latest(key);
    while (earlier !== none && this.isBehind(earlier, time, sequence)) {
      later = earlier;
      earlier = this.earlier(earlier);
    }
    records[at + earlierField] = earlier;
    if (later === none) keys[key * keyFields + latestField] = record;
    else records[later * recordFields + earlierField] = record;
  }

  private isBehind(record: number, time: number, sequence: number): boolean {
    const own = this.times[record] as number;
    return own > time || (own === time && (this.records[record * recordFields + sequenceField] as number) > sequence);
  }

  private hasBytes(key: number, source: Buffer, start: number, end: number): boolean {
    const from = this.keys[key * keyFields + keyStartField] as number;
    if ((this.keys[key * keyFields + keyEndField] as number) - from !== end - start) return false;
    const { buffer } = this.bytes;
    for (let i = start, j = from; i < end; i++, j++) if (source[i] !== buffer[j]) return false;
    return true;
  }

  private moreSlots(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    this.shift--;
    // The newest key has no hash yet: it comes in with its fields.
    for (let key = 0; key < this.keyCount - 1; key++) this.occupy(this.hashOf(key), key);
  }

  private occupy(hash: number, key: number): void {
    const mask = this.slots.length - 1;
    let slot = Math.imul(hash, spread) >>> this.shift;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = key + 1;
  }
}

function larger<A extends Float64Array | Int32Array>(array: A): A {
  const twice = new (array.constructor as new (length: number) => A)(array.length * 2);
  twice.set(array);
  return twice;
}
