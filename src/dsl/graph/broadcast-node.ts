/** Records go out to an internal topic, each into every partition of it, and come back in every task of the next sub-topology: a sink and a source. */
import type { Serde } from '../../serdes/serde.js';
import { failOnInvalidTimestamp } from '../../time/timestamp-extractors.js';
import type { Partitioner } from '../../topology/nodes.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

export interface BroadcastNode {
  readonly kind: 'broadcast';
  /** Name of the source on the far side: what children hang on. */
  readonly name: string;
  readonly topic: string;
  readonly sinkName: string;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  /** What the topic was named after. */
  readonly namedAfter: string;
}

export function broadcastNode(fields: Omit<BroadcastNode, 'kind'>): BroadcastNode {
  return Object.freeze({ kind: 'broadcast', ...fields });
}

export function writeBroadcast(
  node: BroadcastNode,
  builder: TopologyBuilder,
  parents: readonly string[],
  carriesWatermarks: boolean,
): void {
  const { name, topic, sinkName, keySerde, valueSerde } = node;
  builder.addRepartitionTopic(topic, null, { carriesWatermarks });
  builder.addSink(sinkName, topic, parents, { keySerde, valueSerde, partitioner: toEveryPartition });
  builder.addSource(name, { topics: [topic], keySerde, valueSerde, timestampExtractor: failOnInvalidTimestamp, offsetReset: 'earliest' });
}

const lists = new Map<number, readonly number[]>();

const toEveryPartition: Partitioner = Object.freeze({
  partition: (_topic: string, _key: unknown, _value: unknown, partitions: number): readonly number[] => {
    const known = lists.get(partitions);
    if (known !== undefined) return known;
    const fresh = Object.freeze(Array.from({ length: partitions }, (_, partition) => partition));
    lists.set(partitions, fresh);
    return fresh;
  },
});
