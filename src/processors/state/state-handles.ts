/**
 * The handles of keyed state above any backend. Each applies its descriptor's time to live.
 *
 * `owned` handles give out and take in copies (users); the others pass references, for operators that own their state (windows).
 */
import { copiedValue } from './copied-value.js';
import type { StateRows, ValueRow } from './keyed-state-backend.js';
import type { ValueState } from './keyed-state.js';
import type { ValueStateDescriptor } from './state-descriptor.js';
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
