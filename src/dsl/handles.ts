import { MillraceError } from '../errors.js';
import type { DslContext, StreamState, TableState } from './dsl-context.js';
import type { GlobalKTable } from './global-ktable.js';
import type { GlobalTableNode } from './graph/global-table-node.js';
import { StreamGraph } from './graph/stream-graph.js';
import type { GroupedState } from './grouped-state.js';
import { KGroupedStreamImpl } from './kgrouped-stream-impl.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import { KStreamImpl } from './kstream-impl.js';
import type { KStream } from './kstream.js';
import { KTableImpl } from './ktable-impl.js';
import type { KTable } from './ktable.js';
import { StreamRepartition } from './stream-repartition.js';

/** Makes the handles of one builder and remembers the state of each. */
export class Handles implements DslContext {
  readonly graph = new StreamGraph();
  readonly #streams = new WeakMap<object, unknown>();
  readonly #groupedStreams = new WeakMap<object, unknown>();
  readonly #repartitions = new WeakMap<object, unknown>();
  readonly #tables = new WeakMap<object, unknown>();
  readonly #globalTables = new WeakMap<object, GlobalTableNode>();

  stream<K, V>(state: StreamState<K, V>): KStream<K, V> {
    const repartition = new StreamRepartition(this.graph, state);
    const stream = new KStreamImpl(this, Object.freeze(state), repartition);
    this.#streams.set(stream, state);
    this.#repartitions.set(stream, repartition);
    return stream;
  }

  table<K, V>(state: TableState<K, V>): KTable<K, V> {
    const table = new KTableImpl(this, Object.freeze(state));
    this.#tables.set(table, state);
    return table;
  }

  globalTable<K, V>(node: GlobalTableNode): GlobalKTable<K, V> {
    const table: GlobalKTable<K, V> = Object.freeze({ kind: 'globalTable', storeName: node.store.name });
    this.#globalTables.set(table, node);
    return table;
  }

  groupedStream<K, V>(state: GroupedState<K, V>): KGroupedStream<K, V> {
    const grouped = new KGroupedStreamImpl(this, state);
    this.#groupedStreams.set(grouped, state);
    return grouped;
  }

  streamState<K, V>(stream: KStream<K, V>): StreamState<K, V> {
    return (this.#streams.get(stream) ?? stranger('stream')) as StreamState<K, V>;
  }

  groupedState<K, V>(stream: KGroupedStream<K, V>): GroupedState<K, V> {
    return (this.#groupedStreams.get(stream) ?? stranger('grouped stream')) as GroupedState<K, V>;
  }

  repartitionOf<K, V>(stream: KStream<K, V>): StreamRepartition<K, V> {
    return (this.#repartitions.get(stream) ?? stranger('stream')) as StreamRepartition<K, V>;
  }

  tableState<K, V>(table: KTable<K, V>): TableState<K, V> {
    return (this.#tables.get(table) ?? stranger('table')) as TableState<K, V>;
  }

  globalTableNode<K, V>(table: GlobalKTable<K, V>): GlobalTableNode {
    return this.#globalTables.get(table) ?? stranger('global table');
  }
}

function stranger(what: string): never {
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `The ${what} was made by another StreamsBuilder: streams and tables of one topology come from one builder.`,
  );
}
