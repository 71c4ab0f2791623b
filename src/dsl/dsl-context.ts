/**
 * What the handles of one builder (KStream, KTable, …) share: the graph, and how to make and look into each other.
 *
 * Handles are immutable: an operator leaves a node in the graph and returns a new handle. Their state is not a property of theirs, so that users see
 * only operators.
 */
import type { Serde } from '../serdes/serde.js';
import type { GlobalKTable } from './global-ktable.js';
import type { GraphNode } from './graph/graph-node.js';
import type { GlobalTableNode } from './graph/global-table-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { GroupedState } from './grouped-state.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import type { StreamRepartition } from './stream-repartition.js';
import type { TableView } from './table-view.js';

export interface StreamState<K, V> {
  readonly name: string;
  /** null: the app's default. */
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
  /** Names of the source nodes from which its records come, for co-partitioning. */
  readonly sources: readonly string[];
  /** True when keys may have changed since the records were read: equal keys may lie in different partitions. */
  readonly repartitionRequired: boolean;
  readonly node: GraphNode;
}

export interface TableState<K, V> {
  readonly name: string;
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
  readonly sources: readonly string[];
  /** The given store name, by which the table can be queried; null when it has none. */
  readonly queryableStoreName: string | null;
  readonly node: GraphNode;
  /** How other operators look into it. */
  readonly view: TableView<K, V>;
}

export interface DslContext {
  readonly graph: StreamGraph;
  stream<K, V>(state: StreamState<K, V>): KStream<K, V>;
  table<K, V>(state: TableState<K, V>): KTable<K, V>;
  globalTable<K, V>(node: GlobalTableNode): GlobalKTable<K, V>;
  groupedStream<K, V>(state: GroupedState<K, V>): KGroupedStream<K, V>;
  /** @throws MILL_TOPOLOGY_INVALID when the handle comes from another builder. */
  streamState<K, V>(stream: KStream<K, V>): StreamState<K, V>;
  /** @throws MILL_TOPOLOGY_INVALID when the handle comes from another builder. */
  groupedState<K, V>(stream: KGroupedStream<K, V>): GroupedState<K, V>;
  /** The repartition of a stream for its joins. @throws MILL_TOPOLOGY_INVALID when the handle comes from another builder. */
  repartitionOf<K, V>(stream: KStream<K, V>): StreamRepartition<K, V>;
  /** @throws MILL_TOPOLOGY_INVALID when the handle comes from another builder. */
  tableState<K, V>(table: KTable<K, V>): TableState<K, V>;
  /** @throws MILL_TOPOLOGY_INVALID when the handle comes from another builder. */
  globalTableNode<K, V>(table: GlobalKTable<K, V>): GlobalTableNode;
}
