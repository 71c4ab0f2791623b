/** The two ends of an internal topic that an operator brings along: foreign-key joins have one for subscriptions and one for their answers. */
import type { Serde } from '../../serdes/serde.js';
import { failOnInvalidTimestamp } from '../../time/timestamp-extractors.js';
import type { Partitioner } from '../../topology/nodes.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

interface InternalTopicEnd {
  readonly name: string;
  readonly topic: string;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
}

export interface InternalSinkNode extends InternalTopicEnd {
  readonly kind: 'internalSink';
  readonly partitioner: Partitioner | null;
}

export interface InternalSourceNode extends InternalTopicEnd {
  readonly kind: 'internalSource';
}

export function internalSinkNode(fields: Omit<InternalSinkNode, 'kind'>): InternalSinkNode {
  return Object.freeze({ kind: 'internalSink', ...fields });
}

export function internalSourceNode(fields: Omit<InternalSourceNode, 'kind'>): InternalSourceNode {
  return Object.freeze({ kind: 'internalSource', ...fields });
}

export function writeInternalSink(node: InternalSinkNode, builder: TopologyBuilder, parents: readonly string[]): void {
  const { name, topic, keySerde, valueSerde, partitioner } = node;
  builder.addRepartitionTopic(topic);
  builder.addSink(name, topic, parents, { keySerde, valueSerde, partitioner });
}

export function writeInternalSource(node: InternalSourceNode, builder: TopologyBuilder): void {
  const { name, topic, keySerde, valueSerde } = node;
  builder.addSource(name, { topics: [topic], keySerde, valueSerde, timestampExtractor: failOnInvalidTimestamp, offsetReset: 'earliest' });
}
