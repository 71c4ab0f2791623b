import type { Serde } from '../serdes/serde.js';
import type { Partitioner } from '../topology/nodes.js';
import { checkResourceName } from '../topology/resource-name.js';
import type { RepartitionNode } from './graph/repartition-node.js';
import { repartitionNode } from './graph/repartition-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { prefix } from './prefixes.js';

export interface RepartitionRequest {
  /** What the topic is named after: a given name, a store, or an operator. */
  readonly namedAfter: string;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  readonly partitions?: number;
  readonly partitioner?: Partitioner;
  /** Asked for by `repartition()`. Default false. */
  readonly explicit?: boolean;
}

const topicSuffix = '-repartition';

/** A repartition that is not in the graph yet. Takes three numbers whether or not its nodes are named by them. */
export function newRepartition(graph: StreamGraph, request: RepartitionRequest): RepartitionNode {
  const { namedAfter, keySerde, valueSerde, partitions = null, partitioner = null, explicit = false } = request;
  const topic = namedAfter.endsWith(topicSuffix) ? namedAfter : `${namedAfter}${topicSuffix}`;
  checkResourceName(topic, 'repartition topic');
  const sink = graph.newName(prefix.sink);
  const filter = graph.newName(prefix.filter);
  const source = graph.newName(prefix.streamSource);
  const numbered = /^KSTREAM.*-[0-9]{10}$/.test(namedAfter);
  return repartitionNode({
    name: numbered ? source : `${topic}-source`,
    topic,
    filterName: numbered ? filter : `${topic}-filter`,
    sinkName: numbered ? sink : `${topic}-sink`,
    partitions,
    keySerde,
    valueSerde,
    partitioner,
    namedAfter,
    explicit,
  });
}
