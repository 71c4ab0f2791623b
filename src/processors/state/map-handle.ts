import { copiedValue } from './copied-value.js';
import { keyIdentity } from './key-identity.js';
import type { MapEntryRow, MapRow, StateRows } from './keyed-state-backend.js';
import type { MapState } from './keyed-state.js';
import { requireMapKey } from './map-key.js';
import { hasRoom, isShort, partPlace, RowParts, storedSize } from './row-parts.js';
import type { MapStateDescriptor } from './state-descriptor.js';
import type { StateScope } from './state-handles.js';
import { TtlPolicy } from './state-ttl.js';

/** Map state: each entry has its own time to live, and reading one renews that one alone. */
export class MapHandle<UK, UV> implements MapState<UK, UV> {
  private readonly ttl: TtlPolicy;
  private readonly parts: RowParts<MapRow>;
  /** What `find` met last: the first part, and where the part is that it gave. */
  private head: MapRow | null = null;
  private place = '';

  constructor(
    private readonly descriptor: MapStateDescriptor<UK, UV>,
    private readonly rows: StateRows<MapRow>,
    private readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(descriptor.ttl, scope.clock);
    this.parts = new RowParts(rows, ({ entries }) => entries.size);
  }

  get(key: UK): UV | null {
    const id = this.idOf(key);
    const row = this.find(id);
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
    const id = this.idOf(key);
    const stored = this.copied(value);
    const row = this.find(id);
    const entry = row?.entries.get(id);
    if (row === null || entry === undefined) this.append(id, { key, value: stored, updatedAt: this.ttl.now() });
    else {
      entry.value = stored;
      entry.updatedAt = this.ttl.now();
      this.rows.put(this.place, row);
    }
  }

  remove(key: UK): void {
    requireMapKey('remove', this.descriptor.name, key);
    const id = this.idOf(key);
    const row = this.find(id);
    if (row !== null) this.removeEntry(row, id);
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
    const seen: [UK, UV][] = [];
    const { namespace } = this.scope;
    const head = this.rows.get(namespace);
    for (const place of this.parts.places(namespace, head)) {
      const row = place === namespace ? head : this.rows.get(place);
      if (row === null) continue;
      this.place = place;
      for (const [id, entry] of [...row.entries]) {
        if (this.read(row, id, entry)) seen.push([entry.key as UK, this.copied(entry.value as UV)]);
      }
    }
    return seen;
  }

  /** Gives nothing out, so it renews and removes nothing. */
  isEmpty(): boolean {
    const { namespace } = this.scope;
    const head = this.rows.get(namespace);
    for (const place of this.parts.places(namespace, head)) {
      const row = place === namespace ? head : this.rows.get(place);
      for (const { updatedAt } of row?.entries.values() ?? []) if (this.ttl.returnsExpired || !this.ttl.isExpired(updatedAt)) return false;
    }
    return true;
  }

  clear(): void {
    this.parts.clear(this.scope.namespace);
  }

  /** The part that has the entry, and notes its place. What was put last is mostly looked for first. */
  private find(id: unknown): MapRow | null {
    const { namespace } = this.scope;
    const head = this.rows.get(namespace);
    this.head = head;
    this.place = namespace;
    if (head === null || head.entries.has(id)) return head;
    if (head.parts === null) return null;
    const { first, next } = head.parts;
    for (let part = next - 1; part >= first; part--) {
      this.place = partPlace(namespace, part);
      const row = this.rows.get(this.place);
      if (row?.entries.has(id) === true) return row;
    }
    return null;
  }

  /** Behind all others, after `find` has found none. */
  private append(id: unknown, entry: MapEntryRow): void {
    const { namespace } = this.scope;
    const head = this.head ?? this.row();
    let place = this.parts.last(namespace, head);
    let row = place === namespace ? head : (this.rows.get(place) ?? this.row());
    const bytes = isShort(row.entries.size) ? 0 : this.storedSize(entry);
    if (!hasRoom(row, bytes)) {
      place = this.parts.begin(namespace, head);
      row = this.row();
    }
    row.storedBytes += bytes;
    row.entries.set(id, entry);
    this.rows.put(place, row);
  }

  /** Whether the entry is to be seen; removes an expired one, renews where reads renew. */
  private read(row: MapRow, id: unknown, entry: MapEntryRow): boolean {
    if (this.ttl.isExpired(entry.updatedAt)) {
      this.removeEntry(row, id);
      return this.ttl.returnsExpired;
    }
    if (this.ttl.renewsOnRead) {
      entry.updatedAt = this.ttl.now();
      this.rows.put(this.place, row);
    }
    return true;
  }

  private removeEntry(row: MapRow, id: unknown): void {
    const { namespace } = this.scope;
    row.entries.delete(id);
    this.parts.putBack(namespace, this.place, row);
    if (row.entries.size === 0) this.parts.trim(namespace);
  }

  private row(): MapRow {
    return { state: this.descriptor.name, entries: new Map(), parts: null, storedBytes: 0 };
  }

  private storedSize({ key, value }: MapEntryRow): number {
    return storedSize(key as UK, this.descriptor.keySerde) + storedSize(value as UV, this.descriptor.serde);
  }

  private idOf(key: UK): unknown {
    return keyIdentity(key, this.descriptor.keySerde);
  }

  private copied(value: UV): UV {
    return this.scope.copies ? copiedValue(value, this.descriptor.serde) : value;
  }
}
