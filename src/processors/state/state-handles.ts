/**
 * The handles of keyed state above any backend. Each applies its descriptor's time to live.
 *
 * `owned` handles give out and take in copies (users); the others pass references, for operators that own their state (windows).
 */
import type { Serde } from '../../serdes/serde.js';
import { copiedValue } from './copied-value.js';
import { requireElement, requireElements } from './list-element.js';
import type { ListRow, StateRows, ValueRow } from './keyed-state-backend.js';
import type { ListState, ValueState } from './keyed-state.js';
import type { ListStateDescriptor, ValueStateDescriptor } from './state-descriptor.js';
import { TtlPolicy } from './state-ttl.js';

/** Where a handle reads and writes; the namespace can be changed between two calls. */
export interface StateScope {
  readonly clock: () => number;
  /** Give out copies. */
  readonly copies: boolean;
  namespace: string;
}

/** The row's value by the rules of its time to live: removes an expired one, renews where reads renew. Null when there is none to be seen. */
export function readValueRow(rows: StateRows<ValueRow>, namespace: string, ttl: TtlPolicy): ValueRow | null {
  const row = rows.get(namespace);
  if (row === null) return null;
  if (ttl.isExpired(row.updatedAt)) {
    rows.remove(namespace);
    return ttl.returnsExpired ? row : null;
  }
  if (ttl.renewsOnRead) {
    row.updatedAt = ttl.now();
    rows.put(namespace, row);
  }
  return row;
}

export class ValueHandle<V> implements ValueState<V> {
  private readonly ttl: TtlPolicy;

  constructor(
    private readonly descriptor: ValueStateDescriptor<V>,
    private readonly rows: StateRows<ValueRow>,
    private readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(descriptor.ttl, scope.clock);
  }

  value(): V | null {
    const row = readValueRow(this.rows, this.scope.namespace, this.ttl);
    const value = row === null ? this.descriptor.defaultValue : (row.value as V);
    return value === null ? null : this.copied(value);
  }

  update(value: V | null): void {
    if (value === null || value === undefined) this.clear();
    else this.rows.put(this.scope.namespace, { state: this.descriptor.name, value: this.copied(value), updatedAt: this.ttl.now() });
  }

  clear(): void {
    this.rows.remove(this.scope.namespace);
  }

  private copied(value: V): V {
    return this.scope.copies ? copiedValue(value, this.descriptor.serde) : value;
  }
}

export class ListHandle<V> implements ListState<V> {
  private readonly ttl: TtlPolicy;
  private readonly serde: Serde<V>;

  constructor(
    private readonly descriptor: ListStateDescriptor<V>,
    private readonly rows: StateRows<ListRow>,
    private readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(descriptor.ttl, scope.clock);
    this.serde = descriptor.serde;
  }

  get(): V[] {
    const { namespace } = this.scope;
    const row = this.rows.get(namespace);
    if (row === null) return [];
    const live = row.updatedAt.map((updatedAt) => !this.ttl.isExpired(updatedAt));
    const given = row.values.filter((_, i) => this.ttl.returnsExpired || live[i]) as V[];
    if (live.includes(false) || this.ttl.renewsOnRead) this.keepLive(namespace, row, live);
    return given.map((value) => this.copied(value));
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
    this.rows.remove(this.scope.namespace);
  }

  private append(values: readonly V[]): void {
    if (values.length === 0) return;
    const { namespace } = this.scope;
    const row: ListRow = this.rows.get(namespace) ?? { state: this.descriptor.name, values: [], updatedAt: [] };
    const now = this.ttl.now();
    for (const value of values) {
      row.values.push(this.copied(value));
      row.updatedAt.push(now);
    }
    this.rows.put(namespace, row);
  }

  private keepLive(namespace: string, row: ListRow, live: readonly boolean[]): void {
    const now = this.ttl.now();
    row.values = row.values.filter((_, i) => live[i]);
    row.updatedAt = row.updatedAt.filter((_, i) => live[i]).map((updatedAt) => (this.ttl.renewsOnRead ? now : updatedAt));
    if (row.values.length === 0) this.rows.remove(namespace);
    else this.rows.put(namespace, row);
  }

  private copied(value: V): V {
    return this.scope.copies ? copiedValue(value, this.serde) : value;
  }
}
