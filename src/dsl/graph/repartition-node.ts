import { dropNullKeyOperator } from '../../processors/drop-null-key.js';
import { passThroughOperator } from '../../processors/pass-through.js';
import type { Serde } from '../../serdes/serde.js';
import { failOnInvalidTimestamp } from '../../time/timestamp-extractors.js';
import type { Partitioner } from '../../topology/nodes.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** Records go out to an internal topic and come back by key: a filter, a sink, and a source in the next sub-topology. */
export interface RepartitionNode {
  readonly kind: 'repartition';
  /** Name of the source on the far side: what children hang on. */
  readonly name: string;
  readonly topic: string;
  readonly filterName: string;
  readonly sinkName: string;
  /** null: as many as the largest topic upstream. */
  readonly partitions: number | null;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  readonly partitioner: Partitioner | null;
  /** What the topic was named after. */
  readonly namedAfter: string;
  /** Asked for by `repartition()`, and not brought along by an operator that needs equal keys in one place. */
  readonly explicit: boolean;
}

export function repartitionNode(fields: Omit<RepartitionNode, 'kind'>): RepartitionNode {
  return Object.freeze({ kind: 'repartition', ...fields });
}

export interface RepartitionUse {
  /** True when a left join downstream still has a use for records without a key (KIP-962). */
  readonly passNullKeys: boolean;
  readonly carriesWatermarks: boolean;
}

export function writeRepartition(
  node: RepartitionNode,
  builder: TopologyBuilder,
  parents: readonly string[],
  { passNullKeys, carriesWatermarks }: RepartitionUse,
): void {
  const { name, topic, filterName, sinkName, keySerde, valueSerde, partitioner } = node;
  builder.addRepartitionTopic(topic, node.partitions, { carriesWatermarks });
  builder.addOperator(filterName, passNullKeys ? passThroughOperator() : dropNullKeyOperator(), parents);
  builder.addSink(sinkName, topic, [filterName], { keySerde, valueSerde, partitioner });
  // Our own records: their times are right whatever the app's extractor does, and none may be skipped whatever its reset policy.
  builder.addSource(name, {
    topics: [topic],
    keySerde,
    valueSerde,
    timestampExtractor: failOnInvalidTimestamp,
    offsetReset: 'earliest',
  });
}
