import type { StreamGraph } from './graph/stream-graph.js';
import type { MaterializedOptions } from './options.js';
import { prefix } from './prefixes.js';

/** Kafka Streams' `count(Materialized)`, but for sliding windows, takes one number more when the store has no name; the names after it depend on that. */
export function takeNumberOfUnnamedCount<K>(graph: StreamGraph, materialized: MaterializedOptions<K, number> | undefined): void {
  if (materialized !== undefined && materialized.storeName === undefined) graph.newStoreName(prefix.aggregate);
}
