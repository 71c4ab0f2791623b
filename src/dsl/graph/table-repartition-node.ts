import type { Serde } from '../../serdes/serde.js';
import { failOnInvalidTimestamp } from '../../time/timestamp-extractors.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** Changes of a table go out to an internal topic by the key of their group and come back: a sink, and a source in the next sub-topology. */
export interface TableRepartitionNode {
  readonly kind: 'tableRepartition';
  /** Name of the source on the far side: what children hang on. */
  readonly name: string;
  readonly topic: string;
  readonly sinkName: string;
  readonly keySerde: Serde<unknown> | null;
  /** Of changes. */
  readonly valueSerde: Serde<unknown> | null;
  /** What the topic was named after. */
  readonly namedAfter: string;
}

export function tableRepartitionNode(fields: Omit<TableRepartitionNode, 'kind'>): TableRepartitionNode {
  return Object.freeze({ kind: 'tableRepartition', ...fields });
}

export function writeTableRepartition(node: TableRepartitionNode, builder: TopologyBuilder, parents: readonly string[]): void {
  const { name, topic, sinkName, keySerde, valueSerde } = node;
  builder.addRepartitionTopic(topic, null);
  builder.addSink(sinkName, topic, parents, { keySerde, valueSerde, partitioner: null });
  // Our own records: their times are right whatever the app's extractor does, and none may be skipped whatever its reset policy.
  builder.addSource(name, { topics: [topic], keySerde, valueSerde, timestampExtractor: failOnInvalidTimestamp, offsetReset: 'earliest' });
}
