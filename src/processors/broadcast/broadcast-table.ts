/**
 * One broadcast state of one task: all of it in memory, over a store that logs it.
 *
 * Records of the data look at it again and again and can't wait for a scan, so it is read once, before the task's first record, and then changed together with the
 * store. A task that fails is opened anew, table included: what is in memory is always what the store holds.
 */
import type { TimestampedKeyValueStore } from '../../stores/store.js';
import { copiedValue } from '../state/copied-value.js';
import { keyIdentity } from '../state/key-identity.js';
import type { MapStateDescriptor } from '../state/state-descriptor.js';
import type { ReadonlyBroadcastState } from './broadcast-state.js';
import { frozenDeeply } from './frozen-value.js';

interface Entry<UK, UV> {
  readonly key: UK;
  value: UV;
  /** It is frozen: no copy need be made of it. */
  shared: boolean;
}

export class BroadcastTable<UK, UV> implements ReadonlyBroadcastState<UK, UV> {
  /** By the key itself, or by its bytes when it is an object. */
  private readonly rows = new Map<unknown, Entry<UK, UV>>();
  /** Of all entries; null when something has changed since, or an entry is not to be shared. */
  private listed: readonly (readonly [UK, UV])[] | null = null;

  /** @param timestamp time of the record in work, ms: that of the changelog records */
  constructor(
    private readonly descriptor: MapStateDescriptor<UK, UV>,
    private readonly store: TimestampedKeyValueStore<UK, UV>,
    private readonly timestamp: () => number,
  ) {}

  async load(): Promise<void> {
    for await (const [key, { value }] of this.store.range()) this.keep(key, copiedValue(value, this.descriptor.serde));
  }

  get(key: UK): UV | null {
    const entry = this.rows.get(this.idOf(key));
    return entry === undefined ? null : this.given(entry);
  }

  has(key: UK): boolean {
    return this.rows.has(this.idOf(key));
  }

  keys(): readonly UK[] {
    return [...this.rows.values()].map(({ key }) => key);
  }

  values(): readonly UV[] {
    return this.entries().map(([, value]) => value);
  }

  entries(): readonly (readonly [UK, UV])[] {
    if (this.listed !== null) return this.listed;
    const all = [...this.rows.values()];
    const list = all.map((entry) => Object.freeze([entry.key, this.given(entry)] as const));
    if (all.every(({ shared }) => shared)) this.listed = Object.freeze(list);
    return list;
  }

  isEmpty(): boolean {
    return this.rows.size === 0;
  }

  put(key: UK, value: UV): void {
    const copy = copiedValue(value, this.descriptor.serde);
    this.keep(key, copy);
    // Stores keep what they are given until the barrier.
    this.store.put(key, copy, this.timestamp());
  }

  remove(key: UK): void {
    const entry = this.rows.get(this.idOf(key));
    if (entry === undefined) return;
    this.rows.delete(this.idOf(key));
    this.listed = null;
    this.store.put(entry.key, null, this.timestamp());
  }

  clear(): void {
    for (const { key } of this.rows.values()) this.store.put(key, null, this.timestamp());
    this.rows.clear();
    this.listed = null;
  }

  private keep(key: UK, value: UV): void {
    const id = this.idOf(key);
    const entry = this.rows.get(id);
    const shared = frozenDeeply(value);
    // A key that is an object may be changed by whoever put it: the one kept is our own.
    if (entry === undefined) this.rows.set(id, { key: copiedValue(key, this.descriptor.keySerde), value, shared });
    else {
      entry.value = value;
      entry.shared = shared;
    }
    this.listed = null;
  }

  private given({ value, shared }: Entry<UK, UV>): UV {
    return shared ? value : copiedValue(value, this.descriptor.serde);
  }

  private idOf(key: UK): unknown {
    return keyIdentity(key, this.descriptor.keySerde);
  }
}
