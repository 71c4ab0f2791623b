/**
 * Aggregations in two stages: parts are folded where the records are read, and combined behind the repartition topic. With `spread` the records of each key go to several tasks first,
 * which fold the parts: three stages, for a key that is too much for one task.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { requireOptions, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import { deletesRow, localAggregateOperator, type LocalAggregateOptions } from '../processors/two-stage/local-aggregate.js';
import type { Awaitable } from '../processors/user-functions.js';
import type { Serde } from '../serdes/serde.js';
import type { Partitioner } from '../topology/nodes.js';
import { operatorNode } from './graph/operator-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { GroupedState } from './grouped-state.js';
import type { TwoStageOptions } from './options.js';
import { newRepartition } from './repartition.js';

const shape = { spread: wholeNumber, maxKeys: wholeNumber } satisfies ShapeOf<TwoStageOptions>;

export type TwoStage = Required<Pick<TwoStageOptions, 'maxKeys'>> & { readonly spread: number | null };

/** null: one stage. @throws MILL_TOPOLOGY_INVALID when an option is out of range, or there is no repartition topic whose records could become fewer */
export function twoStageOf<K, V>(what: string, given: boolean | TwoStageOptions | undefined, grouped: GroupedState<K, V>): TwoStage | null {
  if (given === undefined || given === false) return null;
  const refuse = (message: string): MillraceError => new MillraceError('MILL_TOPOLOGY_INVALID', `${what}: ${message}`);
  if (given !== true) requireOptions(`${what}: twoStage`, given, shape);
  const { spread = null, maxKeys = 10_000 } = given === true ? {} : given;
  if (spread !== null && spread < 2) throw refuse(`twoStage.spread must be a whole number of at least 2, not ${spread}`);
  if (maxKeys < 1) throw refuse(`twoStage.maxKeys must be a whole number of at least 1, not ${maxKeys}`);
  if (spread === null && !grouped.fields.repartitionRequired) {
    throw refuse(
      'twoStage has nothing to save here: the records are grouped by the key that they have, so they go through no repartition topic. Leave it out, or set twoStage.spread if one key is too much for one task',
    );
  }
  return { spread, maxKeys };
}

export interface FirstStage<K, V, A> {
  readonly twoStage: TwoStage;
  /** The store behind the topic, which the topics are named after. */
  readonly storeName: string;
  /** Name of the operator of this stage. */
  readonly name: string;
  readonly partSerde: Serde<A> | null;
  readonly fold: Pick<LocalAggregateOptions<K, V, A>, 'what' | 'next' | 'slice'>;
}

/** Puts the first stage under a grouping; gives the grouping of its parts, whose records still have to be repartitioned. */
export function addFirstStage<K, V, A>(graph: StreamGraph, grouped: GroupedState<K, V>, stage: FirstStage<K, V, A>): GroupedState<K, A> {
  const { twoStage, storeName, name, partSerde, fold } = stage;
  const { keySerde, valueSerde, node, sources } = grouped.fields;
  const topicOf = (suffix: string): string => graph.derivedName(`${storeName}-${suffix}`, graph.isGenerated(storeName));
  let input = { parent: node, sources };
  if (twoStage.spread !== null) {
    const partitioner = spreadOver(twoStage.spread);
    const spread = newRepartition(graph, { namedAfter: topicOf('spread'), keySerde, valueSerde, partitioner, explicit: true });
    graph.add(spread, [node]);
    input = { parent: spread, sources: [spread.name] };
  }
  const local = operatorNode(name, localAggregateOperator({ ...fold, maxKeys: twoStage.maxKeys, keySerde }));
  graph.add(local, [input.parent]);
  // The topic carries parts and not the stream's values: no other operator can share it.
  graph.valueChanging.add(local);
  return new GroupedState<K, A>({
    keySerde,
    valueSerde: partSerde,
    sources: input.sources,
    repartitionRequired: true,
    node: local,
    givenName: topicOf('parts'),
  });
}

/** What combines parts, held to give one. */
export function neverNull<K, A>(
  what: string,
  combine: (one: A, other: A, key: K) => Awaitable<A | null>,
): (one: A, other: A, key: K) => Awaitable<A> {
  const held = (combined: A | null): A => {
    if (combined === null) throw deletesRow(what);
    return combined;
  };
  return (one, other, key) => {
    const combined = combine(one, other, key);
    return isPromiseLike(combined) ? combined.then(held) : held(combined);
  };
}

/** The records of a key in turn to `ways` partitions that lie side by side. Any way of spreading gives the same result. */
function spreadOver(ways: number): Partitioner {
  let turn = 0;
  return {
    partition: (_topic, _key, _value, partitions, keyBytes) => {
      if (keyBytes === null) return null;
      turn = (turn + 1) % ways;
      return (partitionForKey(keyBytes, 0, keyBytes.length, partitions) + turn) % partitions;
    },
  };
}
