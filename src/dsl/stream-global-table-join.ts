import { defined } from '../processors/defined-result.js';
import { streamGlobalTableJoinOperator } from '../processors/stream-global-table-join.js';
import type { GlobalTableJoiner } from '../processors/user-functions.js';
import { requireFunction } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import type { GlobalKTable } from './global-ktable.js';
import { operatorNode } from './graph/operator-node.js';
import type { GlobalJoinOptions, KStream } from './kstream.js';
import { prefix } from './prefixes.js';
import { serdeOf } from '../serdes/serde-for.js';

export function joinGlobalTable<K, V, KG, VT, VR>(
  context: DslContext,
  stream: StreamState<K, V>,
  table: GlobalKTable<KG, VT>,
  joiner: GlobalTableJoiner<K, V, KG | null, VT | null, VR>,
  options: GlobalJoinOptions<K, V, KG, VR>,
  left: boolean,
): KStream<K, VR> {
  requireFunction('a join with a global table: keyOf', options.keyOf);
  const { graph } = context;
  const keyOf = defined(`${left ? 'leftJoin' : 'join'}: keyOf`, options.keyOf);
  const { store } = context.globalTableNode(table);
  const supplier = streamGlobalTableJoinOperator({ storeName: store.name, keyOf, joiner, left });
  // Kafka Streams calls inner joins with global tables LEFTJOIN too.
  const node = operatorNode(graph.nameOr(checkedName(options), prefix.leftJoin), supplier, { acceptsNullKeys: left });
  graph.add(node, [stream.node]);
  return context.stream<K, VR>({ ...stream, name: node.name, valueSerde: serdeOf(options.valueSerde) ?? null, node });
}
