/**
 * Aggregations in two stages: parts are folded where the records are read, and combined behind the repartition topic. With `spread` the records of each key go to several tasks first,
 * which fold the parts: three stages, for a key that is too much for one task.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { requireOptions, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { deletesRow } from '../processors/two-stage/local-aggregate.js';
import type { Aggregator, Awaitable, Initializer } from '../processors/user-functions.js';
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

export interface FirstStage<K, P> {
  readonly twoStage: TwoStage;
  /** The store behind the topic, which the topics are named after. */
  readonly storeName: string;
  /** Name of the operator of this stage. */
  readonly name: string;
  /** Of what the stage sends. */
  readonly partSerde: Serde<P> | null;
  readonly operator: (common: { readonly maxKeys: number; readonly keySerde: Serde<K> | null }) => OperatorSupplier;
}

/** Puts the first stage under a grouping; gives the grouping of its parts, whose records still have to be repartitioned. */
export function addFirstStage<K, V, P>(graph: StreamGraph, grouped: GroupedState<K, V>, stage: FirstStage<K, P>): GroupedState<K, P> {
  const { twoStage, storeName, name, partSerde, operator } = stage;
  const { keySerde, valueSerde, node, sources } = grouped.fields;
  let input = { parent: node, sources };
  if (twoStage.spread !== null) {
    const partitioner = spreadOver(twoStage.spread);
    const spread = newRepartition(graph, { namedAfter: `${storeName}-spread`, keySerde, valueSerde, partitioner, explicit: true });
    graph.add(spread, [node]);
    input = { parent: spread, sources: [spread.name] };
  }
  const local = operatorNode(name, operator({ maxKeys: twoStage.maxKeys, keySerde }));
  graph.add(local, [input.parent]);
  // The topic carries parts and not the stream's values: no other operator can share it.
  graph.valueChanging.add(local);
  return new GroupedState<K, P>({
    keySerde,
    valueSerde: partSerde,
    sources: input.sources,
    repartitionRequired: true,
    node: local,
    // After the store, whatever that is called: where a name of its own is asked for, that is the one to give.
    givenName: `${storeName}-parts`,
  });
}

/** What two stages do in place of the one operator. */
export interface Stages<K, V, A> {
  readonly next: (part: A | null, value: V, key: K) => Awaitable<A | null>;
  readonly combine: (one: A, other: A, key: K) => Awaitable<A | null>;
}

/** @throws MILL_TOPOLOGY_INVALID when there are to be two stages and nothing combines their parts */
export function requireMerger(name: string, merger: unknown, twoStage: boolean | TwoStageOptions | undefined): void {
  if (merger !== undefined || twoStage === undefined || twoStage === false) return;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `aggregate: twoStage needs \`${name}\`, which makes one part out of two.`);
}

/** The first stage of `aggregate`. */
export function foldedBy<K, V, A>(initializer: Initializer<A>, aggregator: Aggregator<K, V, A>): Stages<K, V, A>['next'] {
  return (part, value, key) => {
    if (part !== null) return aggregator(part, value, key);
    const initial = initializer();
    return isPromiseLike(initial) ? initial.then((later) => aggregator(later, value, key)) : aggregator(initial, value, key);
  };
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
