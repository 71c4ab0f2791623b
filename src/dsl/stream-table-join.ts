import { shown } from '../errors/checked-options.js';
import { streamTableGraceJoinOperator } from '../processors/stream-table-grace-join.js';
import { streamTableJoinOperator } from '../processors/stream-table-join.js';
import type { TableJoiner } from '../processors/user-functions.js';
import { MillraceError } from '../errors.js';
import { waitingRecordsSerde } from '../serdes/waiting-records.js';
import type { StoreSpec } from '../stores/store.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState, TableState } from './dsl-context.js';
import { tableJoinNode } from './graph/table-join-node.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import type { JoinedOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { StreamRepartition } from './stream-repartition.js';
import { serdeOf } from '../serdes/serde-for.js';

export function joinTable<K, V, VT, VR>(
  context: DslContext,
  stream: StreamState<K, V>,
  repartition: StreamRepartition<K, V>,
  table: KTable<K, VT>,
  joiner: TableJoiner<K, V, VT | null, VR>,
  options: JoinedOptions<K, V, VR>,
  left: boolean,
): KStream<K, VR> {
  const { graph } = context;
  const givenName = checkedName(options);
  const rows = context.tableState(table);
  const input = repartition.forJoin(givenName, serdeOf(options.keySerde), serdeOf(options.streamValueSerde));
  const sources = [...new Set([...input.sources, ...rows.sources])];
  graph.copartition(sources);
  const getter = rows.view.getter();
  const name = graph.nameOr(givenName, left ? prefix.leftJoin : prefix.join);
  const common = { table: getter, joiner, left };
  const buffer = options.grace === undefined ? null : graceBuffer(name, input, rows, options);
  const supplier =
    buffer === null
      ? streamTableJoinOperator(common)
      : streamTableGraceJoinOperator({ ...common, bufferName: buffer.name, grace: options.grace ?? 0 });
  const node = tableJoinNode({ name, supplier, table: rows.node, tableStores: getter.stores, buffer, acceptsNullKeys: left });
  graph.add(node, [input.node]);
  return context.stream<K, VR>({
    name,
    keySerde: serdeOf(options.keySerde) ?? stream.keySerde,
    valueSerde: serdeOf(options.valueSerde) ?? null,
    sources,
    repartitionRequired: false,
    node,
  });
}

/** @throws MILL_TOPOLOGY_INVALID when the table does not know the past that late records ask for */
function graceBuffer<K, V, VT, VR>(
  name: string,
  input: StreamState<K, V>,
  table: TableState<K, VT>,
  options: JoinedOptions<K, V, VR>,
): StoreSpec {
  const { grace } = options;
  const history = table.view.historyRetention;
  if (grace === undefined || !Number.isSafeInteger(grace) || grace < 0 || history === null || grace > history) {
    const what =
      history === null
        ? 'a grace period needs a versioned table (`materialized.historyRetention`)'
        : `grace must be a whole number of milliseconds from 0 to the table's history of ${history} ms, not ${shown(grace)}`;
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${name}: ${what}.`, { details: { node: name, grace, table: table.name } });
  }
  return Object.freeze({
    name: `${name}-Buffer`,
    kind: 'timeOrderedBuffer',
    keySerde: serdeOf(options.keySerde) ?? input.keySerde,
    valueSerde: waitingRecordsSerde(serdeOf(options.streamValueSerde) ?? input.valueSerde),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
  });
}
