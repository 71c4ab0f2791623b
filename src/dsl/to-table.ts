import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import { streamToTableNode } from './graph/stream-to-table-node.js';
import type { GraphNode } from './graph/graph-node.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import type { TableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { newRepartition } from './repartition.js';
import { storedView } from './table-view.js';

export function addToTable<K, V>(context: DslContext, stream: StreamState<K, V>, options: TableOptions<K, V>): KTable<K, V> {
  const { graph } = context;
  const { materialized, emit } = options;
  const name = graph.nameOr(checkedName(options), prefix.toTable);
  const keySerde = materialized?.keySerde ?? stream.keySerde;
  const valueSerde = materialized?.valueSerde ?? stream.valueSerde;
  const store = tableStore(graph, prefix.toTable, materialized, { keySerde, valueSerde }, emit);
  let parent: GraphNode = stream.node;
  let sources = stream.sources;
  if (stream.repartitionRequired) {
    parent = newRepartition(graph, { namedAfter: name, keySerde, valueSerde });
    graph.add(parent, [stream.node]);
    sources = [parent.name];
  }
  const node = streamToTableNode({ name, store, emit: emit ?? null });
  graph.add(node, [parent]);
  const view = storedView<K, V>(graph, node);
  return context.table({ name, keySerde, valueSerde, sources, queryableStoreName: materialized?.storeName ?? null, node, view });
}
