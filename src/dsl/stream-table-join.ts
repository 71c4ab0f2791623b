import { streamTableJoinOperator } from '../processors/stream-table-join.js';
import type { TableJoiner } from '../processors/user-functions.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import { tableJoinNode } from './graph/table-join-node.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import type { JoinedOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { StreamRepartition } from './stream-repartition.js';

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
  const input = repartition.forJoin(givenName, options.keySerde, options.streamValueSerde);
  const sources = [...new Set([...input.sources, ...rows.sources])];
  graph.copartition(sources);
  graph.keep(rows.node);
  const name = graph.nameOr(givenName, left ? prefix.leftJoin : prefix.join);
  const supplier = streamTableJoinOperator({ storeName: rows.node.store.name, joiner, left });
  const node = tableJoinNode({ name, supplier, table: rows.node, acceptsNullKeys: left });
  graph.add(node, [input.node]);
  return context.stream<K, VR>({
    name,
    keySerde: options.keySerde ?? stream.keySerde,
    valueSerde: options.valueSerde ?? null,
    sources,
    repartitionRequired: false,
    node,
  });
}
