/** What the joins of two keyed streams have in common: inputs that are told apart by their side, one store, and children for late records. */
import { joinSideOperator } from '../processors/event-time/join-side.js';
import { passThroughOperator } from '../processors/pass-through.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { Serde } from '../serdes/serde.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import { checkedName } from './checked-name.js';
import type { DslContext } from './dsl-context.js';
import { requireWatermarks } from './event-time-sources.js';
import type { GraphNode } from './graph/graph-node.js';
import { operatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import { keyedStateStore } from './keyed-state-store.js';
import type { SideOutputLate } from './keyed-stream.js';
import type { KStream } from './kstream.js';
import type { NamedOptions } from './options.js';

/** Names of the children that take results and late records. */
export interface JoinChildren {
  readonly results: string;
  readonly left: string;
  readonly right: string;
}

export interface TwoSidedJoin<L, R> {
  readonly prefix: string;
  readonly options: NamedOptions & Partial<SideOutputLate>;
  readonly states: readonly AnyStateDescriptor[];
  /** Works in event time: all sources need watermarks. */
  readonly inEventTime: boolean;
  /** Whether records without a value come in. */
  readonly takesNull: boolean;
  /** @param children null: late records are dropped, and all children take results */
  readonly supplierOf: (storeName: string, children: JoinChildren | null) => OperatorSupplier;
  /** What passes late records of a side on. */
  readonly lateOperator?: (side: 'left' | 'right') => OperatorSupplier;
  readonly left: GroupedState<unknown, L>;
  readonly right: GroupedState<unknown, R>;
}

export interface JoinStreams<K, L, R> {
  readonly results: <KR, O>(keySerde: Serde<KR> | null, valueSerde: Serde<O> | null) => KStream<KR, O>;
  /** null when late records are dropped. */
  readonly late: { readonly lateLeft: KStream<K, L>; readonly lateRight: KStream<K, R> } | null;
  readonly keySerde: Serde<K> | null;
}

/** Adds a join to the graph: two operators that tell the sides apart, and the join under both. */
export function addTwoSidedJoin<K, L, R>(context: DslContext, join: TwoSidedJoin<L, R>): JoinStreams<K, L, R> {
  const { graph } = context;
  const { left, right, options, prefix, supplierOf, lateOperator = passThroughOperator } = join;
  const given = checkedName(options);
  const name = graph.nameOr(given, prefix);
  const storeName = given === undefined ? graph.newStoreName(prefix) : `${given}-state`;
  const keySerde = (left.fields.keySerde ?? right.fields.keySerde) as Serde<K> | null;
  const store = keyedStateStore(storeName, name, keySerde, join.states);
  const inputs = [left.inputFor(graph, `${storeName}-left`), right.inputFor(graph, `${storeName}-right`)] as const;
  const sources = [...new Set(inputs.flatMap((input) => input.sources))];
  if (join.inEventTime) requireWatermarks(graph, sources, name);
  graph.copartition(sources);
  const children =
    options.sideOutputLate === true ? { results: `${name}-results`, left: `${name}-late-left`, right: `${name}-late-right` } : null;
  const fromLeft = operatorNode(`${name}-left`, joinSideOperator('left', join.takesNull));
  const fromRight = operatorNode(`${name}-right`, joinSideOperator('right', join.takesNull));
  graph.add(fromLeft, [inputs[0].parent]);
  graph.add(fromRight, [inputs[1].parent]);
  const node = statefulNode(name, supplierOf(storeName, children), store, { storeNamedBy: 'name', usesEventTime: true });
  graph.add(node, [fromLeft, fromRight]);
  const stream = <KS, V>(of: GraphNode, ofKey: Serde<KS> | null, valueSerde: Serde<V> | null): KStream<KS, V> =>
    context.stream<KS, V>({ name: of.name, keySerde: ofKey, valueSerde, sources, repartitionRequired: false, node: of });
  if (children === null) return { results: (ofKey, ofValue) => stream(node, ofKey, ofValue), late: null, keySerde };
  const child = (childName: string, supplier: OperatorSupplier): GraphNode => {
    const passing = operatorNode(childName, supplier);
    graph.add(passing, [node]);
    return passing;
  };
  const results = child(children.results, passThroughOperator());
  return {
    results: (ofKey, ofValue) => stream(results, ofKey, ofValue),
    late: {
      lateLeft: stream<K, L>(child(children.left, lateOperator('left')), keySerde, left.fields.valueSerde),
      lateRight: stream<K, R>(child(children.right, lateOperator('right')), keySerde, right.fields.valueSerde),
    },
    keySerde,
  };
}
