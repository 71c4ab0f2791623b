/**
 * What a window keeps of its records: an accumulator, or the records themselves. State and operations in one place, so that the window operator need not know.
 */
import type { Serde } from '../../serdes/serde.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import { resultsAtOnce } from '../result-at-once.js';
import type { AggregateFunction } from '../state/aggregate-function.js';
import type { KeyedStates } from '../state/keyed-states.js';
import { aggregatingState, listState, type AnyStateDescriptor } from '../state/state-descriptor.js';
import type { StateScope } from '../state/state-handles.js';
import type { Evictor, WindowElement } from './evictor.js';
import { serialized } from '../../serdes/serialized.js';

export interface WindowContents<V, C> {
  readonly descriptor: AnyStateDescriptor;
  /** Handles whose namespace is that of `scope`. */
  open(states: KeyedStates, scope: StateScope): OpenContents<V, C>;
}

export interface OpenContents<V, C> {
  add(value: V, timestamp: number): void;
  clear(): void;
  /** Hands the contents to `use`, unless the window is empty. */
  emit(use: (contents: C) => void): void;
}

/** Constant space a window: the accumulator. */
export function aggregatedContents<V, A, C>(aggregate: AggregateFunction<V, A, C>, serde?: Serde<A>): WindowContents<V, C> {
  const descriptor = aggregatingState<V, A, C>('window-contents', { aggregate, serde });
  return {
    descriptor,
    open: (states, scope) => {
      const state = states.state(descriptor, scope);
      return {
        add: (value) => state.add(value),
        clear: () => state.clear(),
        emit: (use) => {
          const result = state.get();
          if (result !== null) use(result);
        },
      };
    },
  };
}

/** All records of the window, in order of arrival. */
export function listedContents<V>(serde?: Serde<V>): WindowContents<V, readonly V[]> {
  const descriptor = listState<V>('window-contents', { serde });
  return {
    descriptor,
    open: (states, scope) => {
      const state = states.state(descriptor, scope);
      return {
        add: (value) => state.add(value),
        clear: () => state.clear(),
        emit: (use) => {
          const values = state.get();
          if (values.length > 0) use(values);
        },
      };
    },
  };
}

/** All records with their timestamps; the evictor takes out what the function is not to see. `toContents` makes what the function gets. */
export function evictedContents<V, C>(
  evictor: Evictor<V>,
  toContents: (values: readonly V[]) => C,
  serde: Serde<V> | undefined,
): WindowContents<V, C> {
  const descriptor = listState<WindowElement<V>>('window-contents', { serde: serde && elementSerde(serde) });
  const [before, after] = [`evictor ${evictor.name}: before`, `evictor ${evictor.name}: after`];
  return {
    descriptor,
    open: (states, scope) => {
      const state = states.state(descriptor, scope);
      return {
        add: (value, timestamp) => state.add({ value, timestamp }),
        clear: () => state.clear(),
        emit: (use) => {
          const elements = state.get();
          if (elements.length === 0) return;
          const kept = resultsAtOnce(before, evictor.before(elements));
          use(toContents(kept.map(({ value }) => value)));
          state.update(resultsAtOnce(after, evictor.after(kept)));
        },
      };
    },
  };
}

/** An aggregate over values at hand. */
export function folded<V, A, C>(aggregate: AggregateFunction<V, A, C>): (values: readonly V[]) => C {
  return (values) => {
    let accumulator = aggregate.initial();
    for (const value of values) accumulator = aggregate.add(accumulator, value);
    return aggregate.result(accumulator);
  };
}

function elementSerde<V>(serde: Serde<V>): Serde<WindowElement<V>> {
  return inPlaceSerde<WindowElement<V>>({
    name: `element(${serde.name})`,
    encode: ({ value, timestamp }, out) => {
      out.writeDouble(timestamp);
      out.writeBytes(serialized(serde, value));
    },
    decode: (buffer, start, end) => ({
      timestamp: buffer.readDoubleBE(start),
      value: serde.deserialize(buffer.subarray(start + 8, end)) as V,
    }),
  });
}
