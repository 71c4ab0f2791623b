import { intervalJoinOperator } from '../processors/event-time/interval-join-operator.js';
import { joinSideOperator } from '../processors/event-time/join-side.js';
import { inclusiveBounds, type IntervalBounds } from '../processors/interval-join/interval-bounds.js';
import { intervalJoinStates } from '../processors/interval-join/interval-join-engine.js';
import { passThroughOperator } from '../processors/pass-through.js';
import { listSerde } from '../serdes/list.js';
import type { Serde } from '../serdes/serde.js';
import { checkedName } from './checked-name.js';
import type { DslContext } from './dsl-context.js';
import { requireWatermarks } from './event-time-sources.js';
import type { GraphNode } from './graph/graph-node.js';
import { operatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import { keyedStateStore } from './keyed-state-store.js';
import type { IntervalJoinedOptions, JoinedAndLate, SideOutputLate } from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { prefix } from './prefixes.js';

/** Adds an interval join to the graph: two operators that tell the sides apart, and the join under both. */
export function addIntervalJoin<K, L, R, O>(
  context: DslContext,
  left: GroupedState<K, L>,
  right: GroupedState<K, R>,
  bounds: IntervalBounds,
  joiner: (left: L, right: R, key: K) => O,
  options: IntervalJoinedOptions<O> & Partial<SideOutputLate>,
): KStream<K, O> | JoinedAndLate<K, L, R, O> {
  const { graph } = context;
  const given = checkedName(options);
  const name = graph.nameOr(given, prefix.intervalJoin);
  const storeName = given === undefined ? graph.newStoreName(prefix.intervalJoin) : `${given}-state`;
  const buffers = intervalJoinStates<L, R>(bufferSerde(left.fields.valueSerde), bufferSerde(right.fields.valueSerde));
  const keySerde = left.fields.keySerde ?? right.fields.keySerde;
  const store = keyedStateStore(storeName, name, keySerde, [buffers.left, buffers.right]);
  const inputs = [left.inputFor(graph, `${storeName}-left`), right.inputFor(graph, `${storeName}-right`)] as const;
  const sources = [...new Set(inputs.flatMap((input) => input.sources))];
  requireWatermarks(graph, sources, name);
  graph.copartition(sources);
  const sides =
    options.sideOutputLate === true ? { results: `${name}-results`, left: `${name}-late-left`, right: `${name}-late-right` } : null;
  const [fromLeft, fromRight] = [
    operatorNode(`${name}-left`, joinSideOperator('left')),
    operatorNode(`${name}-right`, joinSideOperator('right')),
  ] as const;
  graph.add(fromLeft, [inputs[0].parent]);
  graph.add(fromRight, [inputs[1].parent]);
  const supplier = intervalJoinOperator({ storeName, bounds: inclusiveBounds(bounds), buffers, joiner, sides });
  const node = statefulNode(name, supplier, store, { usesEventTime: true });
  graph.add(node, [fromLeft, fromRight]);
  const stream = <V>(of: GraphNode, valueSerde: Serde<V> | null): KStream<K, V> =>
    context.stream<K, V>({ name: of.name, keySerde, valueSerde, sources, repartitionRequired: false, node: of });
  if (sides === null) return stream<O>(node, options.valueSerde ?? null);
  const child = (childName: string): GraphNode => {
    const passing = operatorNode(childName, passThroughOperator());
    graph.add(passing, [node]);
    return passing;
  };
  return {
    results: stream<O>(child(sides.results), options.valueSerde ?? null),
    lateLeft: stream<L>(child(sides.left), left.fields.valueSerde),
    lateRight: stream<R>(child(sides.right), right.fields.valueSerde),
  };
}

function bufferSerde<V>(serde: Serde<V> | null): Serde<readonly V[]> | undefined {
  return serde === null ? undefined : listSerde(serde);
}
