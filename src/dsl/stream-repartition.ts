import type { StreamState } from './dsl-context.js';
import type { RepartitionNode } from './graph/repartition-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { Serde } from '../serdes/serde.js';
import { newRepartition } from './repartition.js';

/** The repartition of one stream for its joins: those without a name of their own share one topic, named after the stream. */
export class StreamRepartition<K, V> {
  #shared: RepartitionNode | null = null;

  constructor(
    private readonly graph: StreamGraph,
    private readonly state: StreamState<K, V>,
  ) {}

  /** The stream as it comes back from the repartition topic; the stream itself when its keys are in place. */
  forJoin(name: string | undefined, keySerde: Serde<K> | undefined, valueSerde: Serde<V> | undefined): StreamState<K, V> {
    const { state, graph } = this;
    if (!state.repartitionRequired) return state;
    const serdes = { keySerde: keySerde ?? state.keySerde, valueSerde: valueSerde ?? state.valueSerde };
    const namedAfter = name ?? state.name;
    const fresh = newRepartition(graph, { namedAfter, ...serdes });
    let node = this.#shared;
    if (node === null || namedAfter !== state.name) {
      node = fresh;
      this.#shared = fresh;
      graph.add(fresh, [state.node]);
    }
    return { name: node.name, ...serdes, sources: [node.name], repartitionRequired: false, node };
  }
}
