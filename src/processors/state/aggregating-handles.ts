/** Reducing and aggregating state: one accumulator a key. An expired accumulator starts again from nothing, unless expired values may be returned. */
import { copiedValue } from './copied-value.js';
import type { StateRows, ValueRow } from './keyed-state-backend.js';
import type { AggregatingState, ReducingState } from './keyed-state.js';
import type { AggregatingStateDescriptor, ReducingStateDescriptor } from './state-descriptor.js';
import { readValueRow, type StateScope } from './state-handles.js';
import { TtlPolicy } from './state-ttl.js';

abstract class AccumulatorHandle {
  protected readonly ttl: TtlPolicy;

  constructor(
    private readonly name: string,
    ttl: ConstructorParameters<typeof TtlPolicy>[0],
    private readonly rows: StateRows<ValueRow>,
    protected readonly scope: StateScope,
  ) {
    this.ttl = new TtlPolicy(ttl, scope.clock);
  }

  clear(): void {
    this.rows.remove(this.scope.namespace);
  }

  protected read(): ValueRow | null {
    return readValueRow(this.rows, this.scope.namespace, this.ttl);
  }

  /** What an addition goes on from. */
  protected current(): ValueRow | null {
    const row = this.rows.get(this.scope.namespace);
    return row !== null && this.ttl.isExpired(row.updatedAt) && !this.ttl.returnsExpired ? null : row;
  }

  protected write(row: ValueRow | null, accumulator: unknown): void {
    const written = row ?? { state: this.name, value: accumulator, updatedAt: 0 };
    written.value = accumulator;
    written.updatedAt = this.ttl.now();
    this.rows.put(this.scope.namespace, written);
  }
}

export class ReducingHandle<V> extends AccumulatorHandle implements ReducingState<V> {
  constructor(
    private readonly descriptor: ReducingStateDescriptor<V>,
    rows: StateRows<ValueRow>,
    scope: StateScope,
  ) {
    super(descriptor.name, descriptor.ttl, rows, scope);
  }

  get(): V | null {
    const row = this.read();
    return row === null ? null : this.copied(row.value as V);
  }

  add(value: V): void {
    const given: unknown = value;
    if (given === null || given === undefined) {
      throw new TypeError(`add of ${this.descriptor.name}: the value is ${String(given)}, and there is nothing to combine in it`);
    }
    const row = this.current();
    // What a row begins with is its own, also where no other value is copied: another window may begin with it too.
    if (row === null) this.write(row, copiedValue(value, this.descriptor.serde));
    else this.write(row, this.descriptor.reduce(row.value as V, this.copied(value)));
  }

  private copied(value: V): V {
    return this.scope.copies ? copiedValue(value, this.descriptor.serde) : value;
  }
}

export class AggregatingHandle<In, Acc, Out> extends AccumulatorHandle implements AggregatingState<In, Out> {
  constructor(
    private readonly descriptor: AggregatingStateDescriptor<In, Acc, Out>,
    rows: StateRows<ValueRow>,
    scope: StateScope,
  ) {
    super(descriptor.name, descriptor.ttl, rows, scope);
  }

  get(): Out | null {
    const row = this.read();
    if (row === null) return null;
    const { serde, aggregate } = this.descriptor;
    return aggregate.result(this.scope.copies ? copiedValue(row.value as Acc, serde) : (row.value as Acc));
  }

  add(value: In): void {
    const row = this.current();
    const { aggregate, serde } = this.descriptor;
    if (row !== null) {
      this.write(row, aggregate.add(row.value as Acc, value));
      return;
    }
    const first = aggregate.add(aggregate.initial(), value);
    // The value itself belongs to others too, to the next window for one.
    this.write(row, Object.is(first, value) ? copiedValue(first, serde) : first);
  }
}
