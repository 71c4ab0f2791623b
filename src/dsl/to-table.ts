import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import { streamToTableNode } from './graph/stream-to-table-node.js';
import type { GraphNode } from './graph/graph-node.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import { addLateOutput, versionedLate } from './late-output.js';
import type { StreamTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { newRepartition } from './repartition.js';
import { storedView } from './table-view.js';
import { serdeOf } from '../serdes/serde-for.js';

export function addToTable<K, V>(context: DslContext, stream: StreamState<K, V>, options: StreamTableOptions<K, V>): KTable<K, V> {
  const { graph } = context;
  const { materialized, emit, late } = options;
  const name = graph.nameOr(checkedName(options), prefix.toTable);
  const keySerde = serdeOf(materialized?.keySerde) ?? stream.keySerde;
  const valueSerde = serdeOf(materialized?.valueSerde) ?? stream.valueSerde;
  const store = tableStore(graph, prefix.toTable, materialized, { keySerde, valueSerde }, options);
  let parent: GraphNode = stream.node;
  let sources = stream.sources;
  if (stream.repartitionRequired) {
    parent = newRepartition(graph, { namedAfter: name, keySerde, valueSerde });
    graph.add(parent, [stream.node]);
    sources = [parent.name];
  }
  const node = streamToTableNode({ name, store, emit: emit ?? null, late: versionedLate(late, store) });
  graph.add(node, [parent]);
  addLateOutput(context, late, store.name, [node], { keySerde, valueSerde, sources });
  const view = storedView<K, V>(graph, node);
  return context.table({ name, keySerde, valueSerde, sources, queryableStoreName: materialized?.storeName ?? null, node, view });
}
