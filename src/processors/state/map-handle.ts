import { copiedValue } from './copied-value.js';
import { keyIdentity } from './key-identity.js';
import type { MapEntryRow, MapRow, StateRows } from './keyed-state-backend.js';
import type { MapState } from './keyed-state.js';
import { requireMapKey } from './map-key.js';
import type { MapStateDescriptor } from './state-descriptor.js';
import type { StateScope } from './state-handles.js';
import { TtlPolicy } from './state-ttl.js';

/** Map state: each entry has its own time to live, and reading one renews that one alone. */
export class MapHandle<UK, UV> implements MapState<UK, UV> {
  private readonly ttl: TtlPolicy;

  constructor(
    private readonly descriptor: MapStateDescriptor<UK, UV>,
    private readonly rows: StateRows<MapRow>,
    private readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(descriptor.ttl, scope.clock);
  }

  get(key: UK): UV | null {
    const row = this.rows.get(this.scope.namespace);
    const id = this.idOf(key);
    const entry = row?.entries.get(id);
    if (row === null || entry === undefined) return null;
    return this.read(row, id, entry) ? this.copied(entry.value as UV) : null;
  }

  put(key: UK, value: UV | null): void {
    requireMapKey('put', this.descriptor.name, key);
    if (value === null || value === undefined) {
      this.remove(key);
      return;
    }
    const { namespace } = this.scope;
    const row: MapRow = this.rows.get(namespace) ?? { state: this.descriptor.name, entries: new Map() };
    const id = this.idOf(key);
    const entry = row.entries.get(id);
    const stored = this.copied(value);
    if (entry === undefined) row.entries.set(id, { key, value: stored, updatedAt: this.ttl.now() });
    else {
      entry.value = stored;
      entry.updatedAt = this.ttl.now();
    }
    this.rows.put(namespace, row);
  }

  remove(key: UK): void {
    requireMapKey('remove', this.descriptor.name, key);
    const row = this.rows.get(this.scope.namespace);
    if (row?.entries.delete(this.idOf(key)) === true) this.putBack(row);
  }

  has(key: UK): boolean {
    return this.get(key) !== null;
  }

  keys(): UK[] {
    return this.entries().map(([key]) => key);
  }

  values(): UV[] {
    return this.entries().map(([, value]) => value);
  }

  entries(): [UK, UV][] {
    const row = this.rows.get(this.scope.namespace);
    if (row === null) return [];
    const seen: [UK, UV][] = [];
    for (const [id, entry] of [...row.entries]) {
      if (this.read(row, id, entry)) seen.push([entry.key as UK, this.copied(entry.value as UV)]);
    }
    return seen;
  }

  /** Gives nothing out, so it renews and removes nothing. */
  isEmpty(): boolean {
    const row = this.rows.get(this.scope.namespace);
    if (row === null) return true;
    for (const { updatedAt } of row.entries.values()) if (this.ttl.returnsExpired || !this.ttl.isExpired(updatedAt)) return false;
    return true;
  }

  clear(): void {
    this.rows.remove(this.scope.namespace);
  }

  /** Whether the entry is to be seen; removes an expired one, renews where reads renew. */
  private read(row: MapRow, id: unknown, entry: MapEntryRow): boolean {
    if (this.ttl.isExpired(entry.updatedAt)) {
      row.entries.delete(id);
      this.putBack(row);
      return this.ttl.returnsExpired;
    }
    if (this.ttl.renewsOnRead) {
      entry.updatedAt = this.ttl.now();
      this.putBack(row);
    }
    return true;
  }

  private putBack(row: MapRow): void {
    if (row.entries.size === 0) this.rows.remove(this.scope.namespace);
    else this.rows.put(this.scope.namespace, row);
  }

  private idOf(key: UK): unknown {
    return keyIdentity(key, this.descriptor.keySerde);
  }

  private copied(value: UV): UV {
    return this.scope.copies ? copiedValue(value, this.descriptor.serde) : value;
  }
}
