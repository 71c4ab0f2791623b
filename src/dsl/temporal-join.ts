import { temporalJoinOperator } from '../processors/event-time/temporal-join-operator.js';
import { resultAtOnce } from '../processors/result-at-once.js';
import { temporalJoinStates } from '../processors/temporal-join/temporal-join-engine.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import { bufferSerde } from './interval-join.js';
import type { JoinedAndLate, SideOutputLate, TemporalJoinedOptions } from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { prefix } from './prefixes.js';
import { addTwoSidedJoin } from './two-sided.js';
import { serdeOf } from '../serdes/serde-for.js';

export function addTemporalJoin<K, L, R, O>(
  context: DslContext,
  left: GroupedState<K, L>,
  right: GroupedState<K, R>,
  joiner: (left: L, right: R | null, key: K) => O,
  isLeft: boolean,
  options: TemporalJoinedOptions<O> & Partial<SideOutputLate>,
): KStream<K, O> | JoinedAndLate<K, L, R | null, O> {
  const what = `${isLeft ? 'leftTemporalJoin' : 'temporalJoin'}: the joiner`;
  const held = (row: L, version: R | null, key: K): O => resultAtOnce(what, joiner(row, version, key));
  const states = temporalJoinStates<L, R>(bufferSerde(left.fields.valueSerde), right.fields.valueSerde ?? undefined);
  const { results, late, keySerde } = addTwoSidedJoin<K, L, R>(context, {
    prefix: prefix.temporalJoin,
    options,
    states: [states.rows, states.versions, states.current],
    inEventTime: true,
    takesNull: true,
    left,
    right,
    supplierOf: (storeName, sides) => temporalJoinOperator({ storeName, states, joiner: held, isLeft, sides }),
  });
  const joined = results<K, O>(keySerde, serdeOf(options.valueSerde) ?? null);
  return late === null ? joined : { results: joined, lateLeft: late.lateLeft, lateRight: late.lateRight };
}
