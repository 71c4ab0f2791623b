import { joinedGetter } from '../processors/joined-table-getter.js';
import { sideRules, tableTableJoinSideOperator, type TableJoinKind } from '../processors/table-table-join.js';
import type { RowJoiner } from '../processors/user-functions.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { tableTableJoinNode, type TableTableJoinNode } from './graph/table-table-join-node.js';
import type { KTable } from './ktable.js';
import { checkResultsAreKept, tableStore } from './materialize.js';
import type { TableJoinOptions } from './options.js';
import { prefix } from './prefixes.js';
import { storedView, type TableView } from './table-view.js';
import { serdeOf } from '../serdes/serde-for.js';

/** Joins two tables by key. The order of names is Kafka Streams': store, merge, this side, other side. */
export function joinTables<K, V, VO, VR>(
  context: DslContext,
  left: TableState<K, V>,
  other: KTable<K, VO>,
  kind: TableJoinKind,
  joiner: RowJoiner<K, V, VO, VR>,
  options: TableJoinOptions<K, VR>,
): KTable<K, VR> {
  const { graph } = context;
  const right = context.tableState(other);
  const { materialized, emit = null } = options;
  checkResultsAreKept(options, materialized !== undefined, 'materialized');
  const keySerde = serdeOf(materialized?.keySerde) ?? left.keySerde;
  const valueSerde = serdeOf(materialized?.valueSerde) ?? null;
  const carried = { keySerde, valueSerde };
  const store = materialized === undefined ? null : tableStore(graph, prefix.tableMerge, materialized, carried, options);
  const given = checkedName(options);
  const name = graph.nameOr(given, prefix.tableMerge);
  const sources = [...new Set([...left.sources, ...right.sources])];
  graph.copartition(sources);
  // Without the old value nobody knows whether a deleted row ever had a result.
  if (kind !== 'inner') left.view.sendOldValues(true);
  if (kind === 'outer') right.view.sendOldValues(true);
  const [leftGetter, rightGetter] = [left.view.getter(true), right.view.getter(true)];
  const node = tableTableJoinNode({
    name,
    left: {
      name: graph.suffixedOr(given, '-join-this', prefix.tableJoinThis),
      table: left.node,
      otherStores: rightGetter.stores,
      supplierOf: (sendOldValues) =>
        tableTableJoinSideOperator({
          other: rightGetter,
          joiner,
          rule: sideRules[kind].left,
          versioned: left.view.versioned,
          sendOldValues,
        }),
    },
    right: {
      name: graph.suffixedOr(given, '-join-other', prefix.tableJoinOther),
      table: right.node,
      otherStores: leftGetter.stores,
      supplierOf: (sendOldValues) =>
        tableTableJoinSideOperator({
          other: leftGetter,
          joiner: reversed(joiner),
          rule: sideRules[kind].right,
          versioned: right.view.versioned,
          sendOldValues,
        }),
    },
    store,
    emit,
  });
  graph.add(node, [left.node, right.node]);
  const view =
    store === null ? joinedView(context, node, left.view, right.view, kind, joiner) : keptView<K, VR>(context, node, left.view, right.view);
  return context.table({ name, keySerde, valueSerde, sources, queryableStoreName: materialized?.storeName ?? null, node, view });
}

function reversed<K, V, VO, VR>(joiner: RowJoiner<K, V, VO, VR>): RowJoiner<K, VO, V, VR> {
  return (otherValue, value, key) => joiner(value, otherValue, key);
}

/** A kept result: old values come from the sides, which then need theirs. */
function keptView<K, VR>(
  context: DslContext,
  node: TableTableJoinNode,
  left: TableView<K, unknown>,
  right: TableView<K, unknown>,
): TableView<K, VR> {
  const stored = storedView<K, VR>(context.graph, node);
  return { ...stored, sendOldValues: () => sendOldValuesOfSides(context, node, left, right) };
}

function joinedView<K, V, VO, VR>(
  context: DslContext,
  node: TableTableJoinNode,
  left: TableView<K, V>,
  right: TableView<K, VO>,
  kind: TableJoinKind,
  joiner: RowJoiner<K, V, VO, VR>,
): TableView<K, VR> {
  return {
    versioned: false,
    historyRetention: null,
    getter: (inStep) => joinedGetter({ left: left.getter(inStep), right: right.getter(inStep), kind, joiner }),
    sendOldValues: () => sendOldValuesOfSides(context, node, left, right),
  };
}

/** Joins need their sides' stores anyway, so this never fails. */
function sendOldValuesOfSides<K>(
  context: DslContext,
  node: TableTableJoinNode,
  left: TableView<K, unknown>,
  right: TableView<K, unknown>,
): boolean {
  left.sendOldValues(true);
  right.sendOldValues(true);
  context.graph.sendOldValues(node);
  return true;
}
