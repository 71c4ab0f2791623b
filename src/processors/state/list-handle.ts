import type { Serde } from '../../serdes/serde.js';
import { copiedValue } from './copied-value.js';
import type { ListRow, StateRows } from './keyed-state-backend.js';
import type { ListState } from './keyed-state.js';
import { requireElement, requireElements } from './list-element.js';
import { ListParts } from './list-parts.js';
import type { ListStateDescriptor } from './state-descriptor.js';
import type { StateScope } from './state-handles.js';
import { TtlPolicy } from './state-ttl.js';

/** List state: each element has its own time to live, and reading renews all. */
export class ListHandle<V> implements ListState<V> {
  private readonly ttl: TtlPolicy;
  private readonly serde: Serde<V>;
  private readonly parts: ListParts;

  constructor(
    private readonly descriptor: ListStateDescriptor<V>,
    private readonly rows: StateRows<ListRow>,
    private readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(descriptor.ttl, scope.clock);
    this.serde = descriptor.serde;
    this.parts = new ListParts(descriptor.name, descriptor.serde, rows);
  }

  get(): V[] {
    const { namespace } = this.scope;
    const head = this.rows.get(namespace);
    const places = this.parts.places(namespace, head);
    const given: V[] = [];
    let isShorter = false;
    for (const place of places) {
      const row = place === namespace ? head : this.rows.get(place);
      if (row === null) isShorter = true;
      else if (this.read(namespace, place, row, given)) isShorter = true;
    }
    if (isShorter && places.length > 1) this.parts.trim(namespace);
    return given;
  }

  add(value: V): void {
    requireElement('add', this.descriptor.name, value);
    this.append([value]);
  }

  addAll(values: readonly V[]): void {
    requireElements('addAll', this.descriptor.name, values);
    this.append(values);
  }

  update(values: readonly V[]): void {
    requireElements('update', this.descriptor.name, values);
    this.clear();
    this.append(values);
  }

  clear(): void {
    this.parts.clear(this.scope.namespace);
  }

  private append(values: readonly V[]): void {
    if (values.length === 0) return;
    const now = this.ttl.now();
    const { copies } = this.scope;
    this.parts.append(this.scope.namespace, copies ? values.map((value) => copiedValue(value, this.serde)) : values, now);
  }

  /** Adds what is to be seen of a part; removes what is expired, renews where reads renew. True when it has got shorter. */
  private read(namespace: string, place: string, row: ListRow, given: V[]): boolean {
    const live = row.updatedAt.map((updatedAt) => !this.ttl.isExpired(updatedAt));
    const isShorter = live.includes(false);
    for (const [i, value] of (row.values as V[]).entries()) if (this.ttl.returnsExpired || live[i]) given.push(this.copied(value));
    if (isShorter || this.ttl.renewsOnRead) this.keepLive(namespace, place, row, live);
    return isShorter;
  }

  private keepLive(namespace: string, place: string, row: ListRow, live: readonly boolean[]): void {
    const now = this.ttl.now();
    row.values = row.values.filter((_, i) => live[i]);
    row.updatedAt = row.updatedAt.filter((_, i) => live[i]).map((updatedAt) => (this.ttl.renewsOnRead ? now : updatedAt));
    this.parts.putBack(namespace, place, row);
  }

  private copied(value: V): V {
    return this.scope.copies ? copiedValue(value, this.serde) : value;
  }
}
