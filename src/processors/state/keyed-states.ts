/**
 * Gives handles of keyed state for descriptors, over one backend and one clock. Also moves state between namespaces, for windows that merge.
 */
import { MillraceError } from '../../errors.js';
import { AggregatingHandle, ReducingHandle } from './aggregating-handles.js';
import { noNamespace, type KeyedStateBackend, type ListRow, type MapRow, type StateRows, type ValueRow } from './keyed-state-backend.js';
import type { AggregatingState, ListState, MapState, ReducingState, ValueState } from './keyed-state.js';
import { MapHandle } from './map-handle.js';
import type {
  AggregatingStateDescriptor,
  AnyStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  StateDescriptor,
  ValueStateDescriptor,
} from './state-descriptor.js';
import { ListHandle } from './list-handle.js';
import { ListParts } from './list-parts.js';
import { ValueHandle, type StateScope } from './state-handles.js';

/** How users ask for a state: the descriptor's kind says which handle comes back. */
export interface StateAccess {
  /**
   * One value a key.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE when the state is not among the operator's `states`
   */
  state<V>(descriptor: ValueStateDescriptor<V>): ValueState<V>;
  /** A list a key. */
  state<V>(descriptor: ListStateDescriptor<V>): ListState<V>;
  /** A map a key. */
  state<UK, UV>(descriptor: MapStateDescriptor<UK, UV>): MapState<UK, UV>;
  /** One value a key, each new one combined with it. */
  state<V>(descriptor: ReducingStateDescriptor<V>): ReducingState<V>;
  /** One accumulator a key. */
  state<In, Acc, Out>(descriptor: AggregatingStateDescriptor<In, Acc, Out>): AggregatingState<In, Out>;
}

export class KeyedStates implements StateAccess {
  constructor(
    readonly backend: KeyedStateBackend,
    private readonly clock: () => number,
  ) {}

  /** A scope for handles whose namespace its owner changes; `copies` as users need them. */
  scope(copies: boolean, namespace = noNamespace): StateScope {
    return { clock: this.clock, copies, namespace };
  }

  state<V>(descriptor: ValueStateDescriptor<V>, scope?: StateScope): ValueState<V>;
  state<V>(descriptor: ListStateDescriptor<V>, scope?: StateScope): ListState<V>;
  state<UK, UV>(descriptor: MapStateDescriptor<UK, UV>, scope?: StateScope): MapState<UK, UV>;
  state<V>(descriptor: ReducingStateDescriptor<V>, scope?: StateScope): ReducingState<V>;
  state<In, Acc, Out>(descriptor: AggregatingStateDescriptor<In, Acc, Out>, scope?: StateScope): AggregatingState<In, Out>;
  state(given: AnyStateDescriptor, scope: StateScope = this.scope(true)): unknown {
    const descriptor = given as StateDescriptor;
    switch (descriptor.kind) {
      case 'value':
        return new ValueHandle(descriptor, this.backend.rows<ValueRow>(descriptor), scope);
      case 'list':
        return new ListHandle(descriptor, this.backend.rows<ListRow>(descriptor), scope);
      case 'map':
        return new MapHandle(descriptor, this.backend.rows<MapRow>(descriptor), scope);
      case 'reducing':
        return new ReducingHandle(descriptor, this.backend.rows<ValueRow>(descriptor), scope);
      case 'aggregating':
        return new AggregatingHandle(descriptor, this.backend.rows<ValueRow>(descriptor), scope);
    }
  }

  /** Moves what is in `sources` into `target`, combined with what is there. @throws MILL_TOPOLOGY_INVALID when the state can't be merged */
  merge(given: AnyStateDescriptor, target: string, sources: readonly string[]): void {
    const descriptor = given as StateDescriptor;
    if (descriptor.kind === 'list') {
      const lists = new ListParts(descriptor.name, descriptor.serde, this.backend.rows<ListRow>(descriptor));
      for (const source of sources) lists.move(source, target);
    } else mergeValues(this.backend.rows<ValueRow>(descriptor), target, sources, combinerOf(descriptor));
  }
}

function combinerOf(descriptor: Exclude<StateDescriptor, { kind: 'list' }>): (a: unknown, b: unknown) => unknown {
  if (descriptor.kind === 'reducing') return descriptor.reduce;
  if (descriptor.kind === 'aggregating' && descriptor.aggregate.merge !== undefined) {
    const { aggregate } = descriptor;
    return (a, b) => aggregate.merge?.(a, b);
  }
  const why = descriptor.kind === 'aggregating' ? 'its aggregate has no merge' : `it is of kind ${descriptor.kind}`;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `State ${descriptor.name} can't be merged with its windows: ${why}.`);
}

function mergeValues(
  rows: StateRows<ValueRow>,
  target: string,
  sources: readonly string[],
  combine: (a: unknown, b: unknown) => unknown,
): void {
  for (const source of sources) {
    const from = rows.get(source);
    if (from === null || source === target) continue;
    rows.remove(source);
    const into = rows.get(target);
    if (into === null) rows.put(target, from);
    else {
      into.value = combine(into.value, from.value);
      into.updatedAt = Math.max(into.updatedAt, from.updatedAt);
      rows.put(target, into);
    }
  }
}
