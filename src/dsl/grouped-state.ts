/** The state behind a KGroupedStream, shared by everything that aggregates it. */
import type { Serde } from '../serdes/serde.js';
import type { GraphNode } from './graph/graph-node.js';
import type { RepartitionNode } from './graph/repartition-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { newRepartition } from './repartition.js';

export interface GroupedFields<K, V> {
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
  readonly sources: readonly string[];
  readonly repartitionRequired: boolean;
  readonly node: GraphNode;
  /** The name given to the grouping. */
  readonly givenName: string | undefined;
}

/** Where an aggregation gets its records from. */
export interface AggregationInput {
  readonly parent: GraphNode;
  readonly sources: readonly string[];
}

export class GroupedState<K, V> {
  #shared: RepartitionNode | null = null;

  constructor(readonly fields: GroupedFields<K, V>) {}

  /**
   * The node to hang an aggregation under: the stream itself, or a repartition of it. Aggregations of a named grouping share one repartition topic;
   * without a name each has its own, named after its store.
   */
  inputFor(graph: StreamGraph, storeName: string): AggregationInput {
    const { node, sources, repartitionRequired, givenName, keySerde, valueSerde } = this.fields;
    if (!repartitionRequired) return { parent: node, sources };
    const fresh = newRepartition(graph, { namedAfter: givenName ?? storeName, keySerde, valueSerde });
    if (this.#shared === null || givenName === undefined) this.#shared = fresh;
    graph.add(this.#shared, [node]);
    return { parent: this.#shared, sources: [this.#shared.name] };
  }
}
