import { intervalJoinOperator } from '../processors/event-time/interval-join-operator.js';
import { joiningBounds, type IntervalBounds } from '../processors/interval-join/interval-bounds.js';
import { intervalJoinStates } from '../processors/interval-join/interval-join-engine.js';
import { resultAtOnce } from '../processors/result-at-once.js';
import { listSerde } from '../serdes/list.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { IntervalJoinedOptions, JoinedAndLate, SideOutputLate } from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { prefix } from './prefixes.js';
import { addTwoSidedJoin } from './two-sided.js';

export function addIntervalJoin<K, L, R, O>(
  context: DslContext,
  left: GroupedState<K, L>,
  right: GroupedState<K, R>,
  bounds: IntervalBounds,
  joiner: (left: L, right: R, key: K) => O,
  options: IntervalJoinedOptions<O> & Partial<SideOutputLate>,
): KStream<K, O> | JoinedAndLate<K, L, R, O> {
  const held = (of: L, met: R, key: K): O => resultAtOnce('intervalJoin: the joiner', joiner(of, met, key));
  const buffers = intervalJoinStates<L, R>(bufferSerde(left.fields.valueSerde), bufferSerde(right.fields.valueSerde));
  const { results, late, keySerde } = addTwoSidedJoin<K, L, R>(context, {
    prefix: prefix.intervalJoin,
    options,
    states: [buffers.left, buffers.right],
    inEventTime: true,
    takesNull: true,
    left,
    right,
    supplierOf: (storeName, sides) => intervalJoinOperator({ storeName, bounds: joiningBounds(bounds), buffers, joiner: held, sides }),
  });
  const joined = results<K, O>(keySerde, serdeOf(options.valueSerde) ?? null);
  return late === null ? joined : { results: joined, ...late };
}

/** For values by timestamp. */
export function bufferSerde<V>(serde: Serde<V> | null): Serde<readonly V[]> | undefined {
  return serde === null ? undefined : listSerde(serde);
}
